#include "tilewright/driver/compiled_module.h"

#include <algorithm>
#include <utility>

#include "tilewright/driver/device_target.h"
#include "tilewright/schedule/default/extent_plans.h"
#include "tilewright/support/error.h"

namespace tilewright::driver {

CompiledModule::CompiledModule(std::string name, Generator generator, std::vector<Kernel> kernels,
                               std::function<std::string()> make_blob)
    : ModuleObject(std::move(name)),
      generator_(std::move(generator)),
      kernels_(std::move(kernels)),
      joined_(joined_generator(generator_, kernels_)),
      make_blob_(std::move(make_blob)) {
  has_all_objects_ = static_cast<bool>(joined_.object);
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
    modules.push_back(kernel.lowered ? kernel.lowered
                                     : generator_of(kernel).lower(
                                           kernel.name, schedule_kernel(kernel, generator_).func, {}));
  return modules;
}

void CompiledModule::complete_objects() const {
  if (has_all_objects_) return;
  objects_ = {joined_.unit_object(lowered())};
  has_all_objects_ = true;
}

const std::string& CompiledModule::blob_bytes() const {
  if (!blob_) blob_ = make_blob_ ? make_blob_() : std::string();
  return *blob_;
}

std::string CompiledModule::device_code(bool is_for_here) const {
  std::vector<std::string> parts;
  for (const DeviceSources& each : device_sources())
    parts.push_back(each.generator->device_images(each.sources, is_for_here));
  return joined_device_code(parts);
}

std::vector<DeviceSources> CompiledModule::device_sources() const {
  std::vector<DeviceSources> all;
  for (const Kernel& kernel : kernels_) {
    const Generator* generator = &generator_of(kernel);
    if (!generator->device_source) continue;
    auto known = std::find_if(all.begin(), all.end(),
                              [&](const DeviceSources& each) { return each.generator == generator; });
    if (known == all.end()) known = all.insert(all.end(), {generator, {}});
    known->sources.push_back(kernel.device_source);
  }
  if (all.empty() && joined_.device_source) all.push_back({&joined_, {}});
  return all;
}

std::vector<std::string> CompiledModule::objects() const {
  std::lock_guard lock(mutex_);
  complete_objects();
  std::vector<std::string> objects = objects_;
  objects.push_back(
      joined_.library_object(names(), {.blob = blob_bytes(), .device_code = device_code(false)}));
  return objects;
}

const runtime::Module& CompiledModule::load() const {
  std::lock_guard lock(mutex_);
  if (!loaded_) {
    if (!joined_.is_host)
      throw Unsupported("{} was compiled for {}, which is not this machine", name, joined_.machine)
          .help("export it and load it there");
    complete_objects();
    std::vector<std::string> objects = objects_;
    // the VM executable is not needed here: it is read from this module
    objects.push_back(joined_.library_object(names(), {.device_code = device_code(true)}));
    loaded_ = joined_.load(name, objects);
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
