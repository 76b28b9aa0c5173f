#include "tilewright/driver/compiled_module.h"

#include <algorithm>

#include "tilewright/codegen/llvm/native.h"
#include "tilewright/support/error.h"

namespace tilewright::driver {

CompiledModule::CompiledModule(std::string name, Generator generator, std::vector<std::string> function_names,
                               std::vector<ir::IRModule> lowered, std::vector<std::string> objects,
                               std::string blob)
    : ModuleObject(std::move(name)),
      generator_(std::move(generator)),
      function_names_(std::move(function_names)),
      lowered_(std::move(lowered)),
      objects_(std::move(objects)),
      blob_(std::move(blob)) {
  has_all_objects_ = static_cast<bool>(generator_.object);
  if (has_all_objects_) objects_.push_back(generator_.library_object(function_names_, blob_));
}

void CompiledModule::complete_objects() const {
  if (has_all_objects_) return;
  objects_ = {generator_.unit_object(lowered_), generator_.library_object(function_names_, blob_)};
  has_all_objects_ = true;
}

const std::vector<std::string>& CompiledModule::objects() const {
  std::lock_guard lock(mutex_);
  complete_objects();
  return objects_;
}

const runtime::Module& CompiledModule::load() const {
  std::lock_guard lock(mutex_);
  if (!loaded_) {
    if (!generator_.is_host)
      throw Unsupported("{} was compiled for {}, which is not this machine", name, generator_.machine)
          .help("export it and load it there");
    complete_objects();
    loaded_ = codegen::load_objects(name, objects_);
  }
  return loaded_;
}

runtime::Function CompiledModule::find(std::string_view function_name) const {
  if (std::find(function_names_.begin(), function_names_.end(), function_name) == function_names_.end())
    return {};
  return load().find_function(function_name);
}

std::span<const std::byte> CompiledModule::blob() const {
  return std::as_bytes(std::span(blob_.data(), blob_.size()));
}

const CompiledModule* as_compiled(const runtime::Module& module) {
  return module ? dynamic_cast<const CompiledModule*>(module.object()) : nullptr;
}

}  // namespace tilewright::driver
