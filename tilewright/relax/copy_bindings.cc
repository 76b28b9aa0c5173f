#include "tilewright/relax/copy_bindings.h"

#include "tilewright/relax/type_util.h"
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

AnyVar BindingCopier::emit(const Binding& binding) {
  const Expr value = copied(binding->value);
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

namespace {

std::vector<Expr> results_of(const Expr& result) {
  const auto* tuple = type_of(result).as<TupleTypeNode>();
  if (!tuple) return {result};
  std::vector<Expr> results;
  for (size_t n = 0; n < tuple->elements.size(); ++n) {
    const auto* written = result.as<TupleNode>();
    results.push_back(written ? written->elements[n]
                              : Expr(TupleGetItemNode::make(result, static_cast<int64_t>(n))));
  }
  return results;
}

void require_fitting(const Function& loss, size_t n, const Expr& output) {
  const Type expected = loss->params[n]->type, given = type_of(output);
  const auto *wanted = expected.as<TensorTypeNode>(), *tensor = given.as<TensorTypeNode>();
  const bool fits = wanted && tensor && (wanted->ndim < 0 || wanted->ndim == tensor->ndim) &&
                    (wanted->dtype.is_void() || wanted->dtype == tensor->dtype);
  if (!fits)
    throw UserError("append_loss: result {} is {}, but the loss takes {}", n, type_text(given),
                    type_text(expected));
}

}  // namespace

IRModule append_loss(const IRModule& module, const std::string& func_name, const Function& loss,
                     int64_t num_outputs, const std::string& new_name) {
  const Function func = graph_function(module, func_name, "append_loss");
  BlockBuilder builder(module);
  BindingCopier model(builder), tail(builder);
  std::vector<Var> params;
  for (const Var& param : func->params) params.push_back(model.copy_param(param));
  FunctionOptions options{.attrs = func->attrs, .is_pure = func->is_pure && loss->is_pure};
  options.attrs.erase("global_symbol");
  builder.begin_function(new_name, std::nullopt, std::move(options));
  const bool is_dataflow = is_all_dataflow(func) && is_all_dataflow(loss);
  if (is_dataflow) builder.begin_dataflow();
  for (const Binding& binding : bindings_of(func)) model.emit(binding);
  const Expr outputs = builder.normalize(model.copied(func->body.as<SeqExprNode>()->body));
  std::vector<Expr> results = results_of(outputs);
  if (num_outputs < 1 || num_outputs > static_cast<int64_t>(std::min(results.size(), loss->params.size())))
    throw UserError("append_loss: num_backbone_outputs is {}, but {} gives {} value{} and the loss takes {}",
                    num_outputs, func_name, results.size(), results.size() == 1 ? "" : "s",
                    loss->params.size());
  const auto taken = static_cast<size_t>(num_outputs);
  for (size_t n = 0; n < loss->params.size(); ++n) {
    if (n >= taken) {
      params.push_back(tail.copy_param(loss->params[n]));
      continue;
    }
    require_fitting(loss, n, results[n]);
    tail.define_param(loss->params[n], results[n]);
  }
  for (const Binding& binding : bindings_of(loss)) tail.emit(binding);
  std::vector<Expr> all{tail.copied(loss->body.as<SeqExprNode>()->body)};
  all.insert(all.end(), results.begin() + static_cast<long>(taken), results.end());
  const Expr result = all.size() == 1 ? all[0] : Expr(TupleNode::make(std::move(all)));
  if (is_dataflow) builder.end_dataflow();
  builder.emit_func_output(result, params);
  builder.end_function();
  return builder.get();
}

}  // namespace tilewright::relax
