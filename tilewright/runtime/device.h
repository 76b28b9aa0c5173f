// Devices, and how their memory is allocated, freed and copied: one table of functions per kind of device
// (device/).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tilewright/runtime/dlpack.h"

namespace tilewright::runtime {

/// A device; same fields and codes as DLPack's DLDevice.
struct Device {
  int32_t type = kDLCPU;
  int32_t id = 0;

  /// The device written as "cpu", "cpu:0", "cuda:1", "opencl:0", "metal:0".  Raises UserError for any other
  /// text.
  static Device parse(std::string_view text);
  static constexpr Device cpu(int32_t id = 0) { return {kDLCPU, id}; }
  static Device from_dlpack(DLDevice device) { return {device.device_type, device.device_id}; }
  DLDevice to_dlpack() const { return {static_cast<DLDeviceType>(type), id}; }
  bool is_cpu() const { return type == kDLCPU; }
  /// "cpu:0"
  std::string str() const;
  friend constexpr bool operator==(const Device&, const Device&) = default;
};

/// The functions of one kind of device.  All raise on failure, except `free`, which never does.
struct DeviceInterface {
  const char* name;
  /// Allocates `bytes` > 0 bytes aligned to kTensorAlignment.  Raises UserError if there is not enough
  /// memory.
  void* (*allocate)(int32_t id, size_t bytes);
  void (*free)(int32_t id, void* data) noexcept;
  /// Copies between two places on this device, which do not overlap.
  void (*copy)(int32_t id, void* to, const void* from, size_t bytes);
  int (*num_devices)();
};

/// The alignment in bytes of every tensor we allocate: a cache line, which is also a whole AVX-512 register.
inline constexpr size_t kTensorAlignment = 64;

/// The functions of `device`.  Raises Unsupported for a kind that this build cannot run on, UserError for a
/// wrong id.
const DeviceInterface& device_interface(Device device);

}  // namespace tilewright::runtime
