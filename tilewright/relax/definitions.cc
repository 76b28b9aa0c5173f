#include "tilewright/relax/definitions.h"

#include <unordered_map>

#include "tilewright/ir/walk.h"
#include "tilewright/relax/infer.h"
#include "tilewright/relax/type_util.h"
#include "tilewright/support/error.h"

namespace tilewright::relax {
namespace {

class Definitions {
 public:
  void take(const Function& func, std::string_view name) {
    ir::walk(
        func,
        [&](const FunctionNode* inner) {
          for (const Var& param : inner->params) define(param, "a parameter", name);
          return true;
        },
        [&](const BindingNode* binding) {
          define(binding->var, "a binding", name);
          return true;
        });
  }

 private:
  struct Place {
    AnyVar var;
    std::string what, func;
  };

  void define(const AnyVar& var, const char* what, std::string_view func) {
    const auto [known, is_new] = known_.try_emplace(var.get(), Place{var, what, std::string(func)});
    if (is_new) return;
    const Place& first = known->second;
    throw UserError(var, "variable {} is defined twice: by {} of function {} and by {} of function {}",
                    var->name_hint, first.what, first.func, what, func)
        .help("define another variable, and use that from there on");
  }

  std::unordered_map<const VarBaseNode*, Place> known_;
};

}  // namespace

void require_single_definitions(const Function& func, std::string_view name) {
  Definitions().take(func, name);
}

void require_single_definitions(const ir::IRModule& module) {
  Definitions definitions;
  for (size_t n = 0; n < module->functions.size(); ++n) {
    if (const auto func = ir::ref_as<FunctionNode>(module->functions[n]))
      definitions.take(func, module->global_vars[n]->name_hint);
  }
}

void require_declared_result(const Function& func, std::string_view name, const Type& result) {
  if (!func->ret_type || is_subtype(result, func->ret_type) != Answer::kNo) return;
  throw UserError(func, "function {} returns {}, but {} is written", name, type_text(result),
                  type_text(func->ret_type));
}

}  // namespace tilewright::relax
