// Makes local functions functions of the module, with the captured values as last parameters.
//   def main(x, y):                          def main_inner(a, y): return R.add(a, y)
//     @R.function                       ->   def main(x, y):
//     def inner(a): return R.add(a, y)         inner = R.make_closure(cls.main_inner, (y,))
//     return inner(x)                          return inner(x)
// A function that captures nothing is called by its name.  Captured dimensions that its parameters do not
// define are passed as a shape.
#include <unordered_set>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/infer/infer.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/pass.h"

namespace tilewright::relax {
namespace {

// The captured values of `func`, in order of appearance.
struct Captured {
  std::vector<AnyVar> values;
  std::vector<tir::Var> dims;
};

void define_all(const Function& func, std::unordered_set<const Object*>* defined) {
  walk(
      func,
      [&](const FunctionNode* inner) {
        for (const Var& param : inner->params) defined->insert(param.get());
      },
      [&](const VarBindingNode* binding) { defined->insert(binding->var.get()); },
      [&](const MatchCastNode* cast) {
        defined->insert(cast->var.get());
        walk(cast->pattern, [&](const tir::VarNode* dim) { defined->insert(dim); });
      });
  for (const Var& param : func->params) {
    std::vector<const tir::VarNode*> dims;
    collect_defined_dims(param->type, &dims);
    defined->insert(dims.begin(), dims.end());
  }
}

Captured captured_by(const Function& func, const VarBaseNode* self) {
  std::unordered_set<const Object*> seen;
  define_all(func, &seen);
  if (self) seen.insert(self);
  Captured result;
  std::vector<const tir::VarNode*> defined_by_values;
  auto use = [&](const VarBaseNode* var) {
    if (!seen.insert(var).second) return;
    result.values.emplace_back(var);
    collect_defined_dims(var->type, &defined_by_values);
  };
  walk(func->body, [&](const VarNode* var) { use(var); }, [&](const DataflowVarNode* var) { use(var); });
  seen.insert(defined_by_values.begin(), defined_by_values.end());
  auto use_dim = [&](const tir::VarNode* dim) {
    if (seen.insert(dim).second) result.dims.emplace_back(dim);
  };
  walk(func, use_dim);
  for (const Var& param : func->params) walk(param->type, use_dim);
  for (const AnyVar& value : result.values) walk(value->type, use_dim);
  return result;
}

class Lifter {
 public:
  explicit Lifter(const IRModule& module) : builder_(module) {}

  // `func`, called `name` in the module, without local functions, which are added to the builder's module.
  Function lift_all(const Function& func, std::string name) {
    outermost_ = std::move(name);
    return lift_inside(func);
  }

  IRModule result() const { return builder_.get(); }
  void update(const GlobalVar& name, const Function& func) { builder_.update_func(name, func); }

 private:
  Function lift_inside(const Function& func) {
    return rewrite(func, [&](auto& self, const VarBindingNode* binding) -> Binding {
      const auto* inner = binding->value.as<FunctionNode>();
      if (!inner) return self.children(binding);
      const Expr value = lift(Function(inner), binding->var.get(), self);
      return with(binding, [&](VarBindingNode& node) { node.value = value; });
    });
  }

  // The value that replaces the function bound to `self`: its global name, or a closure.
  template <class Rewriter>
  Expr lift(const Function& func, const VarBaseNode* self, Rewriter& outside) {
    const Captured captured = captured_by(func, self);
    std::vector<Var> params = func->params;
    std::vector<Expr> bound, own;
    Substitution inside;
    for (const AnyVar& value : captured.values) {
      params.push_back(VarNode::make(value->name_hint, value->type));
      bound.push_back(outside(Expr(value)));
      own.push_back(params.back());
      inside[value.get()] = params.back();
    }
    if (!captured.dims.empty()) {
      Shape extents(captured.dims.begin(), captured.dims.end());
      params.push_back(VarNode::make("dims", Type(shape_type(extents))));
      bound.push_back(shape_expr(extents));
      own.push_back(params.back());
    }
    const GlobalVar name = builder_.add_func(placeholder(func, params), outermost_ + "_" + self->name_hint);
    inside[self] = closure(name, own);
    Function lifted = with(func, [&](FunctionNode& node) {
      node.params = params;
      node.body = substitute(func->body, inside);
      node.attrs.erase("global_symbol");
    });
    lifted = builder_.normalize_function(lift_inside(with_own_dims(retyped(lifted))));
    builder_.update_func(name, lifted);
    return closure(GlobalVarNode::make(name->name_hint, Type(function_type(lifted.get()))), bound);
  }

  // `func` with new dimensions: dimensions belong to one function.
  static Function with_own_dims(const Function& func) {
    Substitution fresh;
    std::vector<const tir::VarNode*> dims;
    for (const Var& param : func->params) collect_defined_dims(param->type, &dims);
    for (const tir::VarNode* dim : dims) fresh[dim] = tir::make_var(dim->name_hint, dim->dtype);
    return substitute(func, fresh);
  }

  static Function retyped(const Function& func) {
    return with(func, [&](FunctionNode& node) { node.type = function_type(&node); });
  }

  // A function that has the type of `func` before its body is known.
  static Function placeholder(const Function& func, const std::vector<Var>& params) {
    return retyped(with(func, [&](FunctionNode& node) {
      node.params = params;
      node.attrs.erase("global_symbol");
    }));
  }

  static Expr closure(const GlobalVar& name, const std::vector<Expr>& bound) {
    if (bound.empty()) return name;
    return call_op("relax.make_closure", {name, TupleNode::make(bound)});
  }

  BlockBuilder builder_;
  std::string outermost_;  // the function of the module that contains all of them
};

bool has_inner_function(const Function& func) {
  bool found = false;
  walk(func->body, [&](const FunctionNode*) { found = true; });
  return found;
}

IRModule run(const IRModule& module, const NoOptions&, PassContext&) {
  Lifter lifter(module);
  for (size_t n = 0; n < module->functions.size(); ++n) {
    const Function func = ref_as<FunctionNode>(module->functions[n]);
    if (!func || !has_inner_function(func)) continue;
    Function lifted = lifter.lift_all(func, module->global_vars[n]->name_hint);
    BlockBuilder builder(lifter.result());
    lifter.update(module->global_vars[n], builder.normalize_function(lifted));
  }
  return lifter.result();
}

}  // namespace

extern constinit const PassInfo lambda_lift_info = module_pass<run>(
    "lambda_lift", "Makes local functions functions of the module, called by name or as closures.");

}  // namespace tilewright::relax
