// OpenCL devices: those of every platform, GPUs first. Their memory objects have addresses of address_ranges.h.
#pragma once
#include "tilewright/runtime/device/accelerator.h"

namespace tilewright::runtime {
extern const DeviceInterface kOpenclDevice;
extern const Accelerator kOpenclAccelerator;
}  // namespace tilewright::runtime
