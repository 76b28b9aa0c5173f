// Memory of a device that lives between the kernels of one function.
#pragma once
#include <cstdint>

#include "tilewright/runtime/device.h"

namespace tilewright::runtime {

/// The function by which compiled code of the host asks for such memory: device type, device id, slot, bytes.
inline constexpr const char* kDeviceWorkspace = "tilewright.device.workspace";

/// At least `bytes` bytes, uninitialised, which this thread has until it asks for the same `slot` again: functions that run
/// one after the other share it.  Work of a device is done in order, so that memory may be asked for before it is done.
void* device_workspace(Device device, int64_t slot, int64_t bytes);

}  // namespace tilewright::runtime
