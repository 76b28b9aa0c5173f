#include "tilewright/runtime/module.h"

#include "tilewright/support/error.h"
#include "tilewright/support/near.h"

namespace tilewright::runtime {

ModuleObject::ModuleObject(std::string name) : name(std::move(name)) {}
ModuleObject::~ModuleObject() = default;

std::vector<Module> Module::imports() const {
  std::lock_guard lock(object_->mutex_);
  return object_->imports_;
}

bool Module::reaches(const ModuleObject* target) const {
  if (object_.get() == target) return true;
  for (const Module& imported : imports()) {
    if (imported.reaches(target)) return true;
  }
  return false;
}

void Module::import_module(const Module& other) const {
  if (!other) throw UserError("import_module: no module was given");
  if (other.reaches(object_.get())) throw UserError("import_module: module {} would import itself", name());
  std::lock_guard lock(object_->mutex_);
  object_->imports_.push_back(other);
}

Function Module::find_function(std::string_view name) const {
  if (Function own = object_->find(name)) return own;
  for (const Module& imported : imports()) {
    if (Function found = imported.find_function(name)) return found;
  }
  return Function();
}

Function Module::get_function(std::string_view name) const {
  if (Function function = find_function(name)) return function;
  const std::vector<std::string> names = list_functions();
  const std::string who = this->name() == "module" ? "the module" : "module " + this->name();
  throw UserError("{} has no function \"{}\"", who, name)
      .help("{}", nearest_names_text(name, std::vector<std::string_view>(names.begin(), names.end())));
}

std::vector<std::string> Module::list_functions() const {
  std::vector<std::string> names = object_->names();
  for (const Module& imported : imports()) {
    for (std::string& name : imported.list_functions()) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace tilewright::runtime
