#include "tilewright/runtime/device.h"

#include <charconv>

#include "tilewright/runtime/device/cpu.h"
#include "tilewright/support/error.h"

namespace tilewright::runtime {
namespace {

struct Kind {
  std::string_view name;
  int32_t type;
  const DeviceInterface* interface;  // null: only the name is known
};
constexpr Kind kKinds[] = {
    {"cpu", kDLCPU, &kCpuDevice},        {"llvm", kDLCPU, &kCpuDevice},  {"cuda", kDLCUDA, nullptr},
    {"cuda_host", kDLCUDAHost, nullptr}, {"opencl", kDLOpenCL, nullptr}, {"vulkan", kDLVulkan, nullptr},
    {"metal", kDLMetal, nullptr},        {"rocm", kDLROCM, nullptr},
};

}  // namespace

Device Device::parse(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  int32_t id = 0;
  bool is_number = true;
  if (colon != std::string_view::npos) {
    const std::string_view digits = text.substr(colon + 1);
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id);
    is_number = error == std::errc() && end == digits.data() + digits.size() && id >= 0;
  }
  for (const Kind& kind : kKinds) {
    if (is_number && kind.name == name) return {kind.type, id};
  }
  throw UserError("unknown device \"{}\"", text)
      .help(
          "devices are cpu, cuda, opencl, metal, vulkan and rocm, with a number if there are several, e.g. "
          "\"cuda:1\"");
}

std::string Device::str() const {
  for (const Kind& kind : kKinds) {
    if (kind.type == type) return fmt::format("{}:{}", kind.name, id);
  }
  return fmt::format("device_type_{}:{}", type, id);
}

const DeviceInterface& device_interface(Device device) {
  for (const Kind& kind : kKinds) {
    if (kind.type != device.type || !kind.interface) continue;
    if (device.id < 0 || device.id >= kind.interface->num_devices()) {
      throw UserError("there is no device {}; this machine has {} of kind {}", device.str(),
                      kind.interface->num_devices(), kind.name);
    }
    return *kind.interface;
  }
  throw Unsupported("cannot run on device {}", device.str()).help("this build runs on cpu");
}

}  // namespace tilewright::runtime
