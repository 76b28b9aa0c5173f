#include "tilewright/runtime/device.h"

#include <charconv>

#include "tilewright/runtime/device/accelerator.h"
#include "tilewright/runtime/device/cpu.h"
#include "tilewright/runtime/device/cuda.h"
#include "tilewright/runtime/device/opencl.h"
#include "tilewright/support/error.h"

namespace tilewright::runtime {
namespace {

struct Kind {
  std::string_view name;
  int32_t type;
  const DeviceInterface* interface = nullptr;  // null: only the name is known
  const Accelerator* accelerator = nullptr;    // null: the CPU, or only the name is known
};
constexpr Kind kKinds[] = {
    {"cpu", kDLCPU, &kCpuDevice},
    {"llvm", kDLCPU, &kCpuDevice},
    {"cuda", kDLCUDA, &kCudaDevice, &kCudaAccelerator},
    {"cuda_host", kDLCUDAHost, &kCudaHostDevice},
    {"opencl", kDLOpenCL, &kOpenclDevice, &kOpenclAccelerator},
    {"vulkan", kDLVulkan},
    {"metal", kDLMetal},
    {"rocm", kDLROCM},
};

// The kind of `device`, which this build can run on and has a device of that number.
const Kind& usable_kind(Device device) {
  for (const Kind& kind : kKinds) {
    if (kind.type != device.type || !kind.interface) continue;
    const int count = kind.interface->num_devices();
    if (device.id >= 0 && device.id < count) return kind;
    if (count > 0 || !kind.accelerator)
      throw UserError("there is no device {}; this machine has {} of kind {}", device.str(), count,
                      kind.name);
    const Accelerator::Missing missing = kind.accelerator->why_none();
    throw UserError("there is no device {}: {}", device.str(), missing.reason).help("{}", missing.help);
  }
  throw Unsupported("cannot run on device {}", device.str()).help("this build runs on cpu, cuda and opencl");
}

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

const DeviceInterface& device_interface(Device device) { return *usable_kind(device).interface; }

const Accelerator& accelerator(Device device, std::string_view what) {
  const Kind& kind = usable_kind(device);
  if (!kind.accelerator) throw UserError("{}: {} is not a device beside the CPU", what, device.str());
  return *kind.accelerator;
}

}  // namespace tilewright::runtime
