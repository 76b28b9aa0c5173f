// The targets of devices of this machine, as their drivers describe them.
#pragma once
#include "tilewright/ir/target.h"
#include "tilewright/runtime/device.h"

namespace tilewright::driver {

/// The target of `device` with the properties that its driver tells; "llvm" for the CPU.  Raises UserError, whose text
/// begins with `what`, if there is no such device.
ir::Target target_of_device(runtime::Device device, std::string_view what);

}  // namespace tilewright::driver
