// The CPU as a device.
#pragma once
#include "tilewright/runtime/device.h"

namespace tilewright::runtime {
extern const DeviceInterface kCpuDevice;
}  // namespace tilewright::runtime
