// Values of a machine whose tensors are on a device: on their way to functions of the host, and back.
#pragma once
#include "tilewright/runtime/function.h"

namespace tilewright::runtime::vm {

/// `value` with all tensors in it on `device`; copies those that are elsewhere.
Value moved_to(Value value, Device device);

/// The result of `function`, which reads and writes memory of the host, with its tensors on `device`.  Arguments are
/// copied to the host, and those that it may write back to where they are.
Value call_on_host(const Function& function, Args args, Device device);

/// A tensor on `device` that kernels there accept: compact, and aligned as the device's arguments must be.
Tensor ready_on(const Tensor& tensor, Device device);

/// The bytes to which tensors in an arena of `device` are aligned.
int64_t arena_alignment(Device device);

}  // namespace tilewright::runtime::vm
