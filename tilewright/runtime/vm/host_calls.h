// Values of a machine whose tensors are on a device: on their way to functions of the host, and back.
#pragma once
#include "tilewright/runtime/function.h"

namespace tilewright::runtime::vm {

/// `value` with all tensors in it on `device`; copies those that are elsewhere.
Value moved_to(Value value, Device device);

/// The result of `function`, which reads and writes memory of the host, with its tensors on `device`.  Arguments are
/// copied to the host, and those that it may write back to where they are.
Value call_on_host(const Function& function, Args args, Device device);

/// The bytes to which arguments of kernels on `device` must be aligned; 1 on the CPU.
int64_t argument_alignment(Device device);

/// True if `ready_on` would give the tensor itself.
bool is_ready_on(const DLTensor& tensor, Device device, int64_t alignment);

/// A tensor on `device` that kernels there accept: compact, and aligned to `alignment` bytes.  `tensor` itself if it is
/// one.
Tensor ready_on(const Tensor& tensor, Device device, int64_t alignment);

}  // namespace tilewright::runtime::vm
