// The processor that code is for, without LLVM: what schedules and the check before loading need to know of
// it.
#pragma once
#include <string>

#include "tilewright/target/features.h"

namespace tilewright::driver {

/// This machine as the system describes it, without a name of its core.  Features that no compiled code uses
/// by itself are left out.
target::Processor this_processor();

/// What the C compiler makes code of with -march=`cpu`.  Raises UserError for a CPU that it does not know.
target::Processor processor_of_compiler(const std::string& cpu);

}  // namespace tilewright::driver
