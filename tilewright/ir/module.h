// IRModule: the functions of a program under their global names.
#pragma once
#include "tilewright/ir/expr.h"

namespace tilewright::ir {

/// @I.ir_module: named functions in the order in which they were added.
struct IRModuleNode final : Node<IRModuleNode, Object, Kind::kIRModule> {
  std::vector<GlobalVar> global_vars;
  std::vector<BaseFunc> functions;
  AttrMap attrs;
  AttrMap global_infos;
  static constexpr auto fields() {
    return std::tuple{
        field<&IRModuleNode::global_vars>("global_vars", "unique names", Role::kUse),
        field<&IRModuleNode::functions>("functions", "one for each name"),
        field<&IRModuleNode::attrs>("attrs", "module attributes"),
        field<&IRModuleNode::global_infos>("global_infos", "lists of virtual devices and the like")};
  }
  void verify() const;

  /// The function called `name`, or null.
  BaseFunc find(std::string_view name) const;
  GlobalVar find_global_var(std::string_view name) const;
  /// The function called `name`; raises UserError with the existing names if there is none.
  BaseFunc lookup(std::string_view name) const;
};
using IRModule = Ref<IRModuleNode>;

/// `module` with `func` under `name`: replaces the function of that name, or appends it.
IRModule with_function(const IRModule& module, std::string_view name, BaseFunc func);
IRModule without_function(const IRModule& module, std::string_view name);
/// `func` with attribute `key` set to `value` (null removes it).
BaseFunc with_attr(const BaseFunc& func, std::string key, ObjectRef value);

}  // namespace tilewright::ir
