#include "tilewright/driver/compiled_module.h"

#include <algorithm>
#include <utility>

#include "tilewright/schedule/default/extent_plans.h"
#include "tilewright/support/error.h"

namespace tilewright::driver {

CompiledModule::CompiledModule(std::string name, Generator generator, std::vector<Kernel> kernels,
                               std::function<std::string()> make_blob)
    : ModuleObject(std::move(name)),
      generator_(std::move(generator)),
      kernels_(std::move(kernels)),
      make_blob_(std::move(make_blob)) {
  has_all_objects_ = static_cast<bool>(generator_.object);
  if (!has_all_objects_) return;
  for (Kernel& kernel : kernels_) objects_.push_back(std::exchange(kernel.object, {}));
}

std::vector<std::string> CompiledModule::names() const {
  std::vector<std::string> names;
  for (const Kernel& kernel : kernels_) names.push_back(kernel.name);
  return names;
}

std::vector<ir::IRModule> CompiledModule::lowered() const {
  std::vector<ir::IRModule> modules;
  for (const Kernel& kernel : kernels_)
    modules.push_back(kernel.lowered
                          ? kernel.lowered
                          : generator_.lower(kernel.name, schedule_kernel(kernel, generator_).func, {}));
  return modules;
}

void CompiledModule::complete_objects() const {
  if (has_all_objects_) return;
  objects_ = {generator_.unit_object(lowered())};
  has_all_objects_ = true;
}

const std::string& CompiledModule::blob_bytes() const {
  if (!blob_) blob_ = make_blob_ ? make_blob_() : std::string();
  return *blob_;
}

std::string CompiledModule::device_code(bool is_for_here) const {
  return generator_.device_images ? generator_.device_images(device_sources(), is_for_here) : "";
}

std::vector<std::string> CompiledModule::device_sources() const {
  std::vector<std::string> sources;
  for (const Kernel& kernel : kernels_) sources.push_back(kernel.device_source);
  return sources;
}

std::vector<std::string> CompiledModule::objects() const {
  std::lock_guard lock(mutex_);
  complete_objects();
  std::vector<std::string> objects = objects_;
  objects.push_back(
      generator_.library_object(names(), {.blob = blob_bytes(), .device_code = device_code(false)}));
  return objects;
}

const runtime::Module& CompiledModule::load() const {
  std::lock_guard lock(mutex_);
  if (!loaded_) {
    if (!generator_.is_host)
      throw Unsupported("{} was compiled for {}, which is not this machine", name, generator_.machine)
          .help("export it and load it there");
    complete_objects();
    std::vector<std::string> objects = objects_;
    // the VM executable is not needed here: it is read from this module
    objects.push_back(generator_.library_object(names(), {.device_code = device_code(true)}));
    loaded_ = generator_.load(name, objects);
  }
  return loaded_;
}

runtime::Function CompiledModule::find(std::string_view function_name) const {
  const bool is_known = std::any_of(kernels_.begin(), kernels_.end(),
                                    [&](const Kernel& kernel) { return kernel.name == function_name; });
  if (!is_known) return {};
  return load().find_function(function_name);
}

std::span<const std::byte> CompiledModule::blob() const {
  std::lock_guard lock(mutex_);
  const std::string& bytes = blob_bytes();
  return std::as_bytes(std::span(bytes.data(), bytes.size()));
}

const CompiledModule* as_compiled(const runtime::Module& module) {
  return module ? dynamic_cast<const CompiledModule*>(module.object()) : nullptr;
}

}  // namespace tilewright::driver
