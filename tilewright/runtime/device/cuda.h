// NVIDIA GPUs by the CUDA driver API.  Memory comes from the driver's pool, in the order of the stream that a device
// begins with, for which all streams that we make wait, and which waits for them: a tensor may be dropped while work
// of any of them uses it.
#pragma once
#include "tilewright/runtime/device/accelerator.h"

namespace tilewright::runtime {
extern const DeviceInterface kCudaDevice;
extern const Accelerator kCudaAccelerator;
/// Memory of the host that the driver has fixed in place: only from and to it, copies run beside other work.
extern const DeviceInterface kCudaHostDevice;
}  // namespace tilewright::runtime
