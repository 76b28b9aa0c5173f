#include "tilewright/relax/build/private_functions.h"

#include "tilewright/ir/walk.h"

namespace tilewright::relax {

std::set<std::string> private_functions(const IRModule& module) {
  std::set<std::string> names;
  for (size_t n = 0; n < module->functions.size(); ++n) {
    const BaseFunc& func = module->functions[n];
    const std::string& name = module->global_vars[n]->name_hint;
    const bool is_special = name == "main" || func->attrs.contains("global_symbol") ||
                            func->attrs.contains("Primitive") || func->attrs.contains("Composite") ||
                            func->attrs.contains("Codegen");
    if (is<FunctionNode>(func) && !is_special) names.insert(name);
  }
  for (const BaseFunc& func : module->functions) {
    if (!is<FunctionNode>(func)) continue;
    const auto read = [&](auto& self, const Object* root) -> void {
      walk(
          root,
          [&](const CallNode* call) {
            if (!is<GlobalVarNode>(call->op)) return true;
            for (const Expr& arg : call->args) self(self, arg.get());
            return false;  // the callee
          },
          [&](const GlobalVarNode* var) { names.erase(var->name_hint); });
    };
    read(read, func.get());
  }
  return names;
}

std::string called_name(const Expr& value, const std::set<std::string>& names) {
  const auto* call = value.as<CallNode>();
  const auto* callee = call ? call->op.as<GlobalVarNode>() : nullptr;
  return callee && names.contains(callee->name_hint) ? callee->name_hint : std::string();
}

}  // namespace tilewright::relax
