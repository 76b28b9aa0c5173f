#include "tilewright/relax/infer/definitions.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "tilewright/ir/walk.h"
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/infer/infer.h"
#include "tilewright/support/error.h"

namespace tilewright::relax {
namespace {

struct Place {
  AnyVar var;
  std::string what, func;
};
/// The place where each variable of a module is defined.
using Places = std::unordered_map<const VarBaseNode*, Place>;

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
  const Places& places() const { return known_; }

 private:
  void define(const AnyVar& var, const char* what, std::string_view func) {
    const auto [known, is_new] = known_.try_emplace(var.get(), Place{var, what, std::string(func)});
    if (is_new) return;
    const Place& first = known->second;
    throw UserError(var, "variable {} is defined twice: by {} of function {} and by {} of function {}",
                    var->name_hint, first.what, first.func, what, func)
        .help("define another variable, and use that from there on");
  }

  Places known_;
};

// Walks a function in the order of its text.  Variables and dimensions that a branch or local function
// defines are visible only in it.  A DataflowVar may be used after its block, as in
// programs of older versions.
class Uses {
 public:
  Uses(std::string_view name, const Places& places, const ir::IRModule& module)
      : name_(name), places_(places), module_(module) {}

  void function(const FunctionNode* func) {
    const size_t outer = order_.size();
    for (const Var& param : func->params) {
      define(param.get());
      define_dims(param->type);
    }
    for (const Var& param : func->params) expr(param->type.get());
    expr(func->body.get());
    leave(outer);
  }

 private:
  void expr(const Object* node) {
    if (!node) return;
    ir::walk(
        ObjectRef(node), [&](const FunctionNode* func) { return function(func), false; },
        [&](const SeqExprNode* body) {
          const size_t outer = order_.size();
          sequence(body);
          leave(outer);
          return false;
        },
        [&](const CallNode* call) {
          require_callee(call, call->op);
          for (const Expr& arg : call->args) require_callee(call, arg);
          return true;
        },
        [&](const VarBaseNode* var) { return use(var), false; },
        [&](const tir::VarNode* dim) { return use_dim(dim), false; },
        // these define their own dimensions and indices
        [&](const CallableTypeNode*) { return false; }, [&](const tir::IndexMapNode*) { return false; },
        [&](const ir::GlobalVarNode*) { return false; }, [&](const tir::PrimFuncNode*) { return false; });
  }

  void sequence(const SeqExprNode* body) {
    for (const BindingBlock& block : body->blocks) {
      for (const Binding& each : block->bindings) binding(each.get());
    }
    expr(body->body.get());
  }

  void binding(const BindingNode* node) {
    // a function may call itself; statements in another value come before its variable
    const bool is_function = is<FunctionNode>(node->value);
    if (is_function) define(node->var.get());
    if (const auto* body = node->value.as<SeqExprNode>())
      sequence(body);
    else
      expr(node->value.get());
    if (const auto* cast = ObjectRef(node).as<MatchCastNode>()) {
      define_dims(cast->pattern);
      expr(cast->pattern.get());
    }
    if (!is_function) define(node->var.get());
  }

  void define_dims(const Type& type) {
    std::vector<const tir::VarNode*> dims;
    collect_defined_dims(type, &dims);
    for (const tir::VarNode* dim : dims) define(dim);
  }

  void define(const Object* node) {
    if (defined_.insert(node).second) order_.push_back(node);
  }

  void leave(size_t outer) {
    for (size_t n = outer; n < order_.size(); ++n) {
      defined_.erase(order_[n]);
      past_.insert(order_[n]);
    }
    order_.resize(outer);
  }

  void use(const VarBaseNode* var) const {
    if (defined_.contains(var)) return;
    if (past_.contains(var))
      throw UserError(var, "the variable {} is used outside of the branch or function that defines it",
                      var->name_hint)
          .help("make it the result there");
    const auto place = places_.find(var);
    if (place != places_.end() && place->second.func == name_)
      throw UserError(var, "the variable {} is used before it is defined", var->name_hint);
    UserError error(var, "function {} uses the variable {}, which it does not define", name_, var->name_hint);
    if (place != places_.end())
      error.help("it is {} of function {}: pass it as an argument", place->second.what, place->second.func);
    throw error;
  }

  // Checks `part` of a call if it names a function of the module: the callee, or a loop program of call_tir.
  void require_callee(const CallNode* call, const Expr& part) const {
    const auto* global = part.as<ir::GlobalVarNode>();
    if (!global || module_->find(global->name_hint)) return;
    throw UserError(Expr(call), "{} is called, but the module has no function of that name",
                    global->name_hint)
        .help("compile the module that has it instead of one of its functions");
  }

  void use_dim(const tir::VarNode* dim) const {
    if (defined_.contains(dim)) return;
    throw UserError(dim, "the dimension {} is used before a parameter or match_cast defines it",
                    dim->name_hint)
        .help("give it as a dimension of a parameter, or bind it with R.match_cast");
  }

  std::string_view name_;
  const Places& places_;
  const ir::IRModule& module_;
  std::unordered_set<const Object*> defined_, past_;
  std::vector<const Object*> order_;  // variables that are defined, in order
};

}  // namespace

void require_definitions(const ir::IRModule& module) {
  const auto each_function = [&](auto visit) {
    for (size_t n = 0; n < module->functions.size(); ++n) {
      if (const auto func = ir::ref_as<FunctionNode>(module->functions[n]))
        visit(func, module->global_vars[n]->name_hint);
    }
  };
  Definitions definitions;
  each_function([&](const Function& func, const std::string& name) { definitions.take(func, name); });
  each_function([&](const Function& func, const std::string& name) {
    Uses(name, definitions.places(), module).function(func.get());
  });
}

void require_declared_result(const Function& func, std::string_view name, const Type& result) {
  if (!func->ret_type || is_subtype(result, func->ret_type) != Answer::kNo) return;
  throw UserError(func, "function {} returns {}, but {} is written", name, type_text(result),
                  type_text(func->ret_type));
}

}  // namespace tilewright::relax
