#include "tilewright/relax/build/copy_bindings.h"

#include <algorithm>

#include "tilewright/relax/graph/type_util.h"
#include "tilewright/support/error.h"
#include "tilewright/support/near.h"

namespace tilewright::relax {

void BindingCopier::copy_dims(const Type& type) {
  std::vector<const tir::VarNode*> dims;
  collect_defined_dims(type, &dims);
  for (const tir::VarNode* dim : dims) {
    if (!copies_.count(dim)) copies_[dim] = tir::make_var(dim->name_hint, dim->dtype);
  }
}

Var BindingCopier::copy_param(const Var& param) {
  copy_dims(param->type);
  const Var copy = VarNode::make(param->name_hint, substitute(param->type, copies_), param->span);
  copies_[param.get()] = copy;
  return copy;
}

void BindingCopier::define_param(const Var& param, const Expr& value) {
  const Shape *formal = known_shape(param), *actual = known_shape(value);
  for (size_t n = 0; formal && actual && n < formal->size() && n < actual->size(); ++n) {
    const auto* dim = (*formal)[n].as<tir::VarNode>();
    if (dim && !copies_.count(dim)) copies_[dim] = (*actual)[n];
  }
  copies_[param.get()] = value;
}

Expr BindingCopier::copy_of(const Object* var) const {
  auto found = copies_.find(var);
  return found == copies_.end() ? Expr(static_cast<const ExprNode*>(var)) : ref_as<ExprNode>(found->second);
}

Expr BindingCopier::copied(const Expr& expr) const {
  auto untyped = [](const auto& node) { return with(node, [](auto& changed) { changed.type = nullptr; }); };
  return rewrite(
      expr, [&](auto&, const VarNode* var) -> Expr { return copy_of(var); },
      [&](auto&, const DataflowVarNode* var) -> Expr { return copy_of(var); },
      [&](auto&, const tir::VarNode* dim) -> PrimExpr {
        auto found = copies_.find(dim);
        return found == copies_.end() ? PrimExpr(dim) : ref_as<PrimExprNode>(found->second);
      },
      [&](auto& self, const CallNode* node) -> Expr { return untyped(self.children(node)); },
      [&](auto& self, const TupleNode* node) -> Expr { return untyped(self.children(node)); },
      [&](auto& self, const TupleGetItemNode* node) -> Expr { return untyped(self.children(node)); },
      [&](auto& self, const ShapeExprNode* node) -> Expr { return untyped(self.children(node)); },
      [&](auto& self, const PrimValueNode* node) -> Expr { return untyped(self.children(node)); });
}

void BindingCopier::keep_dims(const std::vector<const tir::VarNode*>& dims) {
  for (const tir::VarNode* dim : dims) copies_.try_emplace(dim, tir::Var(dim));
}

SeqExpr BindingCopier::copied_branch(const Expr& branch) {
  const auto* seq = branch.as<SeqExprNode>();
  if (!seq) throw InternalError("a branch is not in normal form");
  builder_.begin_scope();
  try {
    for (const BindingBlock& block : seq->blocks) {
      const bool is_dataflow = is<DataflowBlockNode>(block);
      if (is_dataflow) builder_.begin_dataflow();
      for (const Binding& binding : block->bindings) emit(binding);
      if (is_dataflow) builder_.end_dataflow();
    }
    return builder_.end_scope(builder_.normalize(copied(seq->body)));
  } catch (...) {
    builder_.abandon_scope();
    throw;
  }
}

If BindingCopier::copied_if(const IfNode* node) {
  return with(If(node), [&](IfNode& changed) {
    changed.cond = copied(node->cond);
    changed.true_branch = copied_branch(node->true_branch);
    changed.false_branch = copied_branch(node->false_branch);
    changed.type = nullptr;
  });
}

AnyVar BindingCopier::emit(const Binding& binding) {
  const auto* branches = binding->value.as<IfNode>();
  const Expr value = branches ? Expr(copied_if(branches)) : copied(binding->value);
  const std::string& name = binding->var->name_hint;
  AnyVar var;
  if (const auto* cast = ObjectRef(binding).as<MatchCastNode>()) {
    copy_dims(cast->pattern);
    var = builder_.emit_match_cast(value, substitute(cast->pattern, copies_), name);
  } else if (builder_.current_block_is_dataflow() && is<VarNode>(binding->var)) {
    var = builder_.emit_output(value, name);
  } else {
    var = builder_.emit(value, name);
  }
  copies_[binding->var.get()] = var;
  return var;
}

std::vector<Binding> bindings_of(const Function& func) {
  const auto* body = func->body.as<SeqExprNode>();
  if (!body) throw InternalError("a graph function is not in normal form");
  std::vector<Binding> all;
  for (const BindingBlock& block : body->blocks)
    all.insert(all.end(), block->bindings.begin(), block->bindings.end());
  return all;
}

bool is_all_dataflow(const Function& func) {
  const auto& blocks = func->body.as<SeqExprNode>()->blocks;
  return std::all_of(blocks.begin(), blocks.end(),
                     [](const BindingBlock& block) { return is<DataflowBlockNode>(block); });
}

Function graph_function(const IRModule& module, std::string_view name, std::string_view what) {
  std::vector<std::string_view> names;
  for (size_t n = 0; n < module->functions.size(); ++n) {
    const Function func = ref_as<FunctionNode>(module->functions[n]);
    if (!func) continue;
    if (module->global_vars[n]->name_hint == name) return func;
    names.push_back(module->global_vars[n]->name_hint);
  }
  throw UserError("{}: the module has no graph function \"{}\"", what, name)
      .help("{}", nearest_names_text(name, names));
}

}  // namespace tilewright::relax
