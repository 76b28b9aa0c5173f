// Devices, and how memory on one is taken, freed and copied.  One table of functions per kind of device
// (device/).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tilewright/runtime/dlpack.h"

namespace tilewright::runtime {

/// Where a tensor lives; same fields and codes as DLPack's DLDevice.
struct Device {
  int32_t type = kDLCPU;
  int32_t id = 0;

  /// The device written as "cpu", "cpu:0", "cuda:1", "opencl:0", "metal:0".  Raises UserError for anything
  /// else.
  static Device parse(std::string_view text);
  static constexpr Device cpu(int32_t id = 0) { return {kDLCPU, id}; }
  static Device from_dlpack(DLDevice device) { return {device.device_type, device.device_id}; }
  DLDevice to_dlpack() const { return {static_cast<DLDeviceType>(type), id}; }
  bool is_cpu() const { return type == kDLCPU; }
  /// "cpu:0"
  std::string str() const;
  friend constexpr bool operator==(const Device&, const Device&) = default;
};

/// What one kind of device can do.  All functions raise on failure, `free` never does.
struct DeviceInterface {
  const char* name;
  /// `bytes` > 0 bytes aligned to kTensorAlignment.  Raises UserError when there is no such amount of memory.
  void* (*allocate)(int32_t id, size_t bytes);
  void (*free)(int32_t id, void* data) noexcept;
  /// Between two places on this device, which do not overlap.
  void (*copy)(int32_t id, void* to, const void* from, size_t bytes);
  int (*num_devices)();
};

/// Alignment in bytes of every tensor we allocate: a cache line, and a whole AVX-512 register.
inline constexpr size_t kTensorAlignment = 64;

/// The functions of `device`.  Raises Unsupported for a kind that this build cannot run on, UserError for a
/// wrong id.
const DeviceInterface& device_interface(Device device);

}  // namespace tilewright::runtime
