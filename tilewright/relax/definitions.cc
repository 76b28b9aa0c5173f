#include "tilewright/relax/definitions.h"

#include <unordered_map>
#include <unordered_set>

#include "tilewright/ir/walk.h"
#include "tilewright/relax/infer.h"
#include "tilewright/relax/type_util.h"
#include "tilewright/support/error.h"

namespace tilewright::relax {
namespace {

// In the order of the text: what stands in a branch or a function inside is defined there alone.
class Uses {
 public:
  void take(const Object* node) {
    ir::walk(
        ObjectRef(node),
        [&](const FunctionNode* func) { return func == node ? define_params(func) : inside(func); },
        [&](const SeqExprNode* body) { return body == node ? true : inside(body); },
        [&](const BindingNode* binding) {
          // a function may call itself
          const bool is_function = is<FunctionNode>(binding->value);
          if (is_function) define(binding->var.get());
          take(binding->value.get());
          if (!is_function) define(binding->var.get());
          return false;
        },
        [&](const VarBaseNode* var) { use(var); });
  }

  void require_defined(const Function& func) const {
    std::unordered_set<const VarBaseNode*> bound;
    ir::walk(func, [&](const BindingNode* binding) { bound.insert(binding->var.get()); });
    for (const VarBaseNode* var : early_) {
      if (bound.contains(var))
        throw UserError(var, "the variable {} is used before it is defined", var->name_hint);
    }
  }

 private:
  bool define_params(const FunctionNode* func) {
    for (const Var& param : func->params) define(param.get());
    return true;
  }

  bool inside(const Object* node) {
    const size_t before = order_.size();
    take(node);
    for (size_t n = before; n < order_.size(); ++n) defined_.erase(order_[n]);
    order_.resize(before);
    return false;
  }

  void define(const VarBaseNode* var) {
    if (defined_.insert(var).second) order_.push_back(var);
  }

  void use(const VarBaseNode* var) {
    if (!defined_.contains(var)) early_.push_back(var);
  }

  std::unordered_set<const VarBaseNode*> defined_;
  std::vector<const VarBaseNode*> order_, early_;
};

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
    Uses uses;
    uses.take(func.get());
    uses.require_defined(func);
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

void require_definitions(const ir::IRModule& module) {
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
