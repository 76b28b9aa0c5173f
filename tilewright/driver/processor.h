// Describes the target processor without LLVM, for schedules and for the check before loading.
#pragma once
#include <string>

#include "tilewright/target/features.h"

namespace tilewright::driver {

/// This machine according to the operating system, without the name of its core.  Features that compiled code
/// never uses by itself are left out.
target::Processor this_processor();

/// The processor that the C compiler generates code for with -march=`cpu`.  Raises UserError for an unknown
/// CPU.
target::Processor processor_of_compiler(const std::string& cpu);

}  // namespace tilewright::driver
