// Targets whose kernels run on a device: code of the host by another target, which launches kernels in a language of
// devices.
#pragma once
#include "tilewright/codegen/device/device.h"
#include "tilewright/driver/target.h"
#include "tilewright/runtime/device/device_code.h"

namespace tilewright::driver {

struct DeviceTarget {
  codegen::DeviceLanguage language;
  int32_t device_type;      // a DLDeviceType
  std::string_view ending;  // of source files: ".cu"
  /// The images that devices load, from one of source text; null: they take the text.
  std::vector<runtime::DeviceImage> (*images)(const runtime::DeviceImage& source, const ir::Target& target,
                                              bool is_for_here) = nullptr;
};

/// Bytes of runtime::DeviceCode with the kernels and images of all `parts`, such bytes or empty.
std::string joined_device_code(const std::vector<std::string>& parts);

/// The generator of `target`.  Its host is `target`'s, or this machine.
Generator make_device_generator(const ir::Target& target, const DeviceTarget& device);

}  // namespace tilewright::driver
