#include "tilewright/ir/module.h"

#include <unordered_set>

#include "tilewright/ir/field.h"
#include "tilewright/support/near.h"

namespace tilewright::ir {

void IRModuleNode::verify() const {
  TILEWRIGHT_CHECK(global_vars.size() == functions.size(), "a module has {} names and {} functions",
                   global_vars.size(), functions.size());
  std::unordered_set<std::string_view> seen;
  for (const GlobalVar& var : global_vars) {
    if (!seen.insert(var->name_hint).second)
      throw UserError("the module has two functions called \"{}\"", var->name_hint);
  }
}

BaseFunc IRModuleNode::find(std::string_view name) const {
  for (size_t n = 0; n < functions.size(); ++n) {
    if (global_vars[n]->name_hint == name) return functions[n];
  }
  return nullptr;
}

GlobalVar IRModuleNode::find_global_var(std::string_view name) const {
  for (const GlobalVar& var : global_vars) {
    if (var->name_hint == name) return var;
  }
  return nullptr;
}

BaseFunc IRModuleNode::lookup(std::string_view name) const {
  if (BaseFunc func = find(name)) return func;
  std::vector<std::string_view> names;
  for (const GlobalVar& var : global_vars) names.push_back(var->name_hint);
  throw UserError("the module has no function \"{}\"", name).help("{}", nearest_names_text(name, names));
}

IRModule with_function(const IRModule& module, std::string_view name, BaseFunc func) {
  return with(module, [&](IRModuleNode& changed) {
    for (size_t n = 0; n < changed.functions.size(); ++n) {
      if (changed.global_vars[n]->name_hint == name) {
        changed.functions[n] = std::move(func);
        return;
      }
    }
    changed.global_vars.push_back(GlobalVarNode::make(std::string(name)));
    changed.functions.push_back(std::move(func));
  });
}

IRModule without_function(const IRModule& module, std::string_view name) {
  return with(module, [&](IRModuleNode& changed) {
    for (size_t n = 0; n < changed.functions.size(); ++n) {
      if (changed.global_vars[n]->name_hint != name) continue;
      changed.global_vars.erase(changed.global_vars.begin() + static_cast<long>(n));
      changed.functions.erase(changed.functions.begin() + static_cast<long>(n));
      return;
    }
  });
}

BaseFunc with_attr(const BaseFunc& func, std::string key, ObjectRef value) {
  Object* copy = info_of(*func)->clone(func.get());
  BaseFunc owner(static_cast<const BaseFuncNode*>(copy));
  AttrMap& attrs = static_cast<BaseFuncNode*>(copy)->attrs;
  if (value)
    attrs.set(std::move(key), std::move(value));
  else
    attrs.erase(key);
  return owner;
}

}  // namespace tilewright::ir
