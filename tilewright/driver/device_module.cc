#include "tilewright/driver/device_module.h"

#include "tilewright/runtime/device/device_code.h"

namespace tilewright::driver {

DeviceModule::DeviceModule(std::string kind, std::vector<std::string> sources)
    : ModuleObject(kind), kind_(std::move(kind)), sources_(std::move(sources)) {}

std::string DeviceModule::source() const {
  std::string text;
  for (const std::string& source : sources_) {
    if (source.empty()) continue;
    const auto code = runtime::DeviceCode::parse(std::as_bytes(std::span(source)), "a kernel");
    for (const runtime::DeviceImage& image : code.images) text += (text.empty() ? "" : "\n") + image.bytes;
  }
  return text;
}

const DeviceModule* as_device(const runtime::Module& module) {
  return module ? dynamic_cast<const DeviceModule*>(module.object()) : nullptr;
}

}  // namespace tilewright::driver
