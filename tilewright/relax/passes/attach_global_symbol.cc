// Gives every function a symbol: its name in the module, unless it has another one.
//   @R.function(private=True) def helper(...)
//   ->  @R.function def helper(...), attrs {"global_symbol": "helper"}
// Afterwards all functions are public: dead_code_elimination keeps them.
#include "tilewright/relax/pass.h"
#include "tilewright/tir/builder.h"

namespace tilewright::relax {
namespace {

IRModule run(const IRModule& module, const NoOptions&, PassContext&) {
  IRModule result = module;
  for (size_t n = 0; n < module->functions.size(); ++n) {
    const BaseFunc& func = module->functions[n];
    const std::string& name = module->global_vars[n]->name_hint;
    const bool can_have_one = is<FunctionNode>(func) || is<tir::PrimFuncNode>(func);
    if (!can_have_one || func->attrs.contains("global_symbol")) continue;
    result = with_function(result, name, with_attr(func, "global_symbol", tir::string_imm(name)));
  }
  return result;
}

}  // namespace

extern constinit const PassInfo attach_global_symbol_info = module_pass<run>(
    "attach_global_symbol", "Gives every function a symbol, by which it is called from outside.");

}  // namespace tilewright::relax
