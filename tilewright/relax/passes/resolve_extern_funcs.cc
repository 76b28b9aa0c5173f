// Calls registered functions by their own names instead of the names that the module has for them.
//   ext = R.ExternFunc("env.relu")       in the module
//   gv = cls.ext(x)  ->  gv = R.call_packed("env.relu", x)
//   gv = R.call_tir(cls.ext, (x,), ...)  ->  gv = R.call_dps_packed("env.relu", (x,), ...)
// Afterwards the module has no such names.
#include "tilewright/ir/rewrite.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/pass.h"

namespace tilewright::relax {
namespace {

Function resolved(const Function& func, const IRModule& module) {
  return rewrite(
      func,
      [&](auto&, const GlobalVarNode* name) -> Expr {
        const BaseFunc external = module->find(name->name_hint);
        return is<ExternFuncNode>(external) ? Expr(external) : Expr(name);
      },
      [&](auto& self, const CallNode* node) -> Expr {
        const Call call = self.children(node);
        if (is<ExternFuncNode>(call->op) && call->type_args.empty())  // only the module's name had its type
          return with(call, [](CallNode& changed) { changed.type_args = {changed.type}; });
        if (op_name(call.get()) != "relax.call_tir" || !is<ExternFuncNode>(call->args[0])) return call;
        return with(call, [](CallNode& changed) { changed.op = OpNode::make("relax.call_dps_packed"); });
      });
}

IRModule run(const IRModule& module, const NoOptions&, PassContext&) {
  std::vector<std::string> names;
  for (size_t n = 0; n < module->functions.size(); ++n) {
    if (is<ExternFuncNode>(module->functions[n])) names.push_back(module->global_vars[n]->name_hint);
  }
  if (names.empty()) return module;
  IRModule result =
      map_functions<FunctionNode>(module, [&](const Function& func) { return resolved(func, module); });
  for (const std::string& name : names) result = without_function(result, name);
  return result;
}

}  // namespace

extern constinit const PassInfo resolve_extern_funcs_info =
    module_pass<run>("resolve_extern_funcs", "Calls registered functions by their own names.");

}  // namespace tilewright::relax
