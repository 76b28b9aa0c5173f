#include "tilewright/relax/build/lift.h"

#include <algorithm>
#include <unordered_set>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/infer/infer.h"

namespace tilewright::relax {
namespace {

using Objects = std::unordered_set<const Object*>;
using Dims = std::vector<const tir::VarNode*>;

// The variables that `body` reads and does not bind, in the order of their first use.
std::vector<Expr> free_variables(const std::vector<Var>& params, const SeqExpr& body) {
  Objects bound;
  for (const Var& param : params) bound.insert(param.get());
  walk(
      body, [&](const BindingNode* binding) { bound.insert(binding->var.get()); },
      [&](const FunctionNode* inner) {
        for (const Var& param : inner->params) bound.insert(param.get());
      });
  std::vector<Expr> found;
  const auto use = [&](const Object* var) {
    if (bound.insert(var).second) found.push_back(Expr(static_cast<const ExprNode*>(var)));
  };
  walk(body, [&](const VarNode* var) { use(var); }, [&](const DataflowVarNode* var) { use(var); });
  return found;
}

void add(const tir::VarNode* dim, Dims* dims) {
  if (std::find(dims->begin(), dims->end(), dim) == dims->end()) dims->push_back(dim);
}

}  // namespace

Lifted lifted(const std::vector<Var>& params, const SeqExpr& body) {
  Lifted result;
  result.captured = free_variables(params, body);
  std::vector<Var> all = params;
  Substitution inner;
  for (const Expr& outer : result.captured) {
    const auto* var = outer.as<VarBaseNode>();
    all.push_back(VarNode::make(var->name_hint, var->type, var->span));
    inner[var] = all.back();
  }
  Dims defined, used;
  for (const Var& param : all) collect_defined_dims(param->type, &defined);
  walk(body, [&](const MatchCastNode* cast) { collect_defined_dims(cast->pattern, &defined); });
  for (const Var& param : all) walk(param->type, [&](const tir::VarNode* dim) { add(dim, &used); });
  walk(body, [&](const tir::VarNode* dim) { add(dim, &used); });
  Shape missing;
  for (const tir::VarNode* dim : used) {
    if (std::find(defined.begin(), defined.end(), dim) == defined.end()) missing.push_back(tir::Var(dim));
  }
  if (!missing.empty()) {
    all.push_back(VarNode::make("sizes", Type(shape_type(missing))));
    result.captured.push_back(shape_expr(missing));
  }
  const SeqExpr renamed = substitute(body, inner);
  Function func = FunctionNode::make(all, Expr(renamed), type_of(renamed->body), true, AttrMap{});
  Substitution fresh;  // the function gets dimensions of its own
  for (const tir::VarNode* dim : used) fresh[dim] = tir::make_var(dim->name_hint, dim->dtype);
  for (const tir::VarNode* dim : defined) {
    if (!fresh.count(dim)) fresh[dim] = tir::make_var(dim->name_hint, dim->dtype);
  }
  func = substitute(func, fresh);
  Dims own;
  for (const Var& param : func->params) collect_defined_dims(param->type, &own);
  result.function = with(func, [&](FunctionNode& node) {
    node.ret_type = erase_unknown_dims(node.ret_type, own);
    node.type = nullptr;
  });
  result.function =
      with(result.function, [&](FunctionNode& node) { node.type = function_type(result.function.get()); });
  return result;
}

}  // namespace tilewright::relax
