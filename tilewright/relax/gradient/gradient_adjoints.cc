#include "tilewright/relax/gradient/gradient_adjoints.h"

#include <algorithm>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/build/copy_bindings.h"
#include "tilewright/relax/infer/op_util.h"
#include "tilewright/relax/memory/liveness.h"

namespace tilewright::relax {
namespace {

bool is_var(const Expr& expr) { return VarBaseNode::classof(*expr); }

bool holds_floats(const Type& type) {
  if (const auto* tensor = type.as<TensorTypeNode>()) return tensor->dtype.is_float();
  const auto* tuple = type.as<TupleTypeNode>();
  return tuple && std::any_of(tuple->elements.begin(), tuple->elements.end(), holds_floats);
}

template <class F>
void each_var(const Expr& expr, F&& visit) {
  walk(expr, [&](const VarNode* var) { visit(var); }, [&](const DataflowVarNode* var) { visit(var); });
}

std::string name_of_gradient(const Expr& var) { return var.as<VarBaseNode>()->name_hint + "_adjoint"; }

}  // namespace

bool Adjoint::is_empty() const {
  return !value && std::all_of(fields.begin(), fields.end(), [](const Adjoint& f) { return f.is_empty(); });
}

bool Adjoints::is_var_needed(const Object* var) const {
  return needed_.count(var) || (outer_ && outer_->is_var_needed(var));
}
bool Adjoints::is_forgotten(const Object* var) const {
  return forgotten_.count(var) || (outer_ && outer_->is_forgotten(var));
}
Expr Adjoints::value_of(const Object* var) const {
  const auto known = values_.find(var);
  if (known != values_.end()) return known->second;
  return outer_ ? outer_->value_of(var) : Expr();
}
Expr Adjoints::computed_again(const Object* var) const {
  const auto known = again_.find(var);
  if (known != again_.end()) return known->second;
  return outer_ ? outer_->computed_again(var) : Expr();
}

void Adjoints::define(const AnyVar& var, const Expr& value) {
  values_[var.get()] = value;
  const auto* call = value.as<CallNode>();
  const std::string_view op = call ? op_name(call) : std::string_view();
  bool is_inside = op == "relax.grad.start_checkpoint";
  each_var(value, [&](const Object* used) { is_inside |= is_forgotten(used); });
  if (is_inside && op != "relax.grad.end_checkpoint") forgotten_.insert(var.get());
  if (op != "relax.grad.no_grad" && holds_floats(var->type) && is_needed(value)) needed_.insert(var.get());
}

bool Adjoints::is_needed(const Expr& expr) const {
  bool found = false;
  each_var(expr, [&](const Object* var) { found |= is_var_needed(var); });
  return found;
}

Expr Adjoints::emit(const Value& value, const std::string& name_hint) {
  if (is_var(value.expr) || is<ConstantNode>(value.expr)) return value.expr;
  return builder_.emit(value.expr, name_hint);
}

void Adjoints::accumulate(Adjoint* into, const Type& type, const Adjoint& gradient,
                          const std::string& name_hint) {
  if (const auto* tuple = type.as<TupleTypeNode>()) {
    into->fields.resize(tuple->elements.size());
    for (size_t n = 0; n < gradient.fields.size(); ++n)
      accumulate(&into->fields[n], tuple->elements[n], gradient.fields[n], name_hint);
    return;
  }
  if (!gradient.value) return;
  into->value = into->value ? emit(Value{into->value} + Value{gradient.value}, name_hint) : gradient.value;
}

void Adjoints::add(const Expr& target, const Adjoint& gradient) {
  if (gradient.is_empty()) return;
  if (const auto* tuple = target.as<TupleNode>()) {
    for (size_t n = 0; n < tuple->elements.size() && n < gradient.fields.size(); ++n)
      add(tuple->elements[n], gradient.fields[n]);
  } else if (is_var_needed(target.get())) {
    accumulate(&adjoints_[target.get()], type_of(target), gradient, name_of_gradient(target));
  }
}

void Adjoints::add_field(const Expr& tuple, size_t index, const Adjoint& gradient) {
  if (const auto* written = tuple.as<TupleNode>()) return add(written->elements.at(index), gradient);
  Adjoint whole;
  whole.fields.resize(index + 1);
  whole.fields[index] = gradient;
  add(tuple, whole);
}

Expr Adjoints::seen(const Expr& expr) {
  if (const auto* tuple = expr.as<TupleNode>()) {
    std::vector<Expr> elements;
    for (const Expr& element : tuple->elements) elements.push_back(seen(element));
    if (elements == tuple->elements) return expr;
    return with(Tuple(tuple), [&](TupleNode& node) { node.elements = std::move(elements); });
  }
  if (!is_forgotten(expr.get())) return expr;
  if (const Expr known = computed_again(expr.get())) return known;
  const auto* var = expr.as<VarBaseNode>();
  const Expr value = value_of(var);
  BindingCopier copier(builder_);
  copier.keep_dims(builder_.dims_in_scope());
  // a recomputed value starts from a variable, not from its expression, so that CSE cannot merge both passes
  const auto* call = value.as<CallNode>();
  if (call && op_name(call) == "relax.grad.start_checkpoint" && is_var(call->args[0]))
    copier.define(ref_as<VarBaseNode>(call->args[0]), expr);
  each_var(value, [&](const Object* used) {
    if (!is_forgotten(used)) return;
    const auto inner = ref_as<VarBaseNode>(Expr(static_cast<const ExprNode*>(used)));
    copier.define(inner, seen(inner));
  });
  const DataflowVar again = DataflowVarNode::make(var->name_hint + "_again", var->type);
  return again_[expr.get()] = copier.emit(VarBinding(VarBindingNode::make(again, value)));
}

}  // namespace tilewright::relax
