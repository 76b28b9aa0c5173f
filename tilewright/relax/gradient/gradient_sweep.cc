// The gradient of a branch recomputes the branch, so that no value of it is kept until then:
//   y = if c: lv = R.exp(x); lv else: z     ->  y = the same
//                                               x_z_adjoint = if c: lv = R.exp(x); (y_adjoint * lv, zeros)
//                                                             else: (zeros, y_adjoint)
// Conditions are not differentiated.
#include "tilewright/relax/gradient/gradient_sweep.h"

#include <algorithm>

#include "tilewright/ir/walk.h"
#include "tilewright/relax/infer/op_util.h"
#include "tilewright/relax/infer/purity.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/pass.h"
#include "tilewright/support/count_text.h"

namespace tilewright::relax {
namespace {

void require_supported(const Expr& value) {
  walk(value, [](const FunctionNode* func) {
    throw Unsupported(Expr(func), "gradient: there is no gradient of functions inside of functions");
  });
}

[[noreturn]] void refuse(const Call& call, std::string_view name) {
  const auto* callee = call->args.empty() ? nullptr : call->args[0].as<GlobalVarNode>();
  if (name == "relax.call_tir" && callee)
    throw Unsupported(call, "gradient: there is no gradient of call_tir: {} is a loop program",
                      callee->name_hint)
        .help("call it by R.call_tir_with_grad with te_grad_name, and register_te_gradient under that name");
  if (const auto* func = call->op.as<GlobalVarNode>())
    throw Unsupported(call, "gradient: there is no gradient of a call of function {}", func->name_hint)
        .help("write its body where it is called");
  throw Unsupported(call, "gradient: there is no gradient of {}",
                    name.empty() ? "a call of a function value" : op_detail::short_name(name))
      .help("R.grad.no_grad(value) excludes a value from gradients");
}

// The backward pass does not recompute calls for their side effects alone; but the results of a call in place
// are used under other names.
bool is_removable(const BindingBlock&, const Binding& binding) {
  bool is_in_place = false;
  walk(binding->value,
       [&](const CallNode* call) { is_in_place |= op_name(call) == "relax.call_tir_inplace"; });
  return is<VarBindingNode>(binding) && !is_in_place;
}

// Branches are computed twice, so a side effect in one would happen twice.
void require_pure(const Expr& branch, const IRModule& module) {
  walk(branch, [&](const CallNode* call) {
    if (op_name(call) != "relax.call_tir_inplace" && is_pure_call(call, module.get())) return;
    throw Unsupported(
        Expr(call),
        "gradient: there is no gradient of `if` that uses the result of a call with side effects "
        "in a branch, which is computed again on the way back")
        .help("do it outside of the branch");
  });
}

// `gradient` with the types of the branch's value; the type of the `if` may be less precise.
Adjoint as_seen_in_branch(Adjoints& adjoints, const Adjoint& gradient, const Type& type) {
  Adjoint result = gradient;
  const auto* tuple = type.as<TupleTypeNode>();
  for (size_t n = 0; tuple && n < result.fields.size(); ++n)
    result.fields[n] = as_seen_in_branch(adjoints, result.fields[n], tuple->elements.at(n));
  const Shape* shape = known_shape(type.as<TensorTypeNode>());
  const Shape* given = result.value ? known_shape(result.value) : nullptr;
  if (!shape || !result.value || (given && equal_shapes(*given, *shape) == Answer::kYes)) return result;
  const DataType dtype = type_of(result.value).as<TensorTypeNode>()->dtype;
  result.value = adjoints.builder().emit_match_cast(result.value, tensor_type(*shape, dtype));
  return result;
}

// Appends the gradients of the floating-point tensors in a value of `type`, zeros where there is none.
void collect_gradients(const If& node, const AnyVar& var, const Type& type, const Adjoint& adjoint,
                       std::vector<Expr>* gradients) {
  if (const auto* tuple = type.as<TupleTypeNode>()) {
    for (size_t n = 0; n < tuple->elements.size(); ++n)
      collect_gradients(node, var, tuple->elements[n],
                        n < adjoint.fields.size() ? adjoint.fields[n] : Adjoint(), gradients);
    return;
  }
  const auto* tensor = type.as<TensorTypeNode>();
  if (!tensor || !tensor->dtype.is_float()) return;
  if (adjoint.value) return gradients->push_back(adjoint.value);
  const Shape* shape = known_shape(tensor);
  if (!shape)
    throw Unsupported(
        node, "gradient: there is no gradient of `if`: the shape of {}, {}, is known only at run time",
        var->name_hint, type_text(type))
        .help("bind it with R.match_cast");
  gradients->push_back(zeros(*shape, tensor->dtype).expr);
}
// The inverse: the fields of `gradients` from `next` on as the gradient of a value of `type`.
Adjoint spread_gradients(Adjoints& adjoints, const Type& type, const Expr& gradients, int64_t* next) {
  Adjoint result;
  if (const auto* tuple = type.as<TupleTypeNode>()) {
    for (const Type& element : tuple->elements)
      result.fields.push_back(spread_gradients(adjoints, element, gradients, next));
  } else if (const auto* tensor = type.as<TensorTypeNode>(); tensor && tensor->dtype.is_float()) {
    result.value = adjoints.emit({TupleGetItemNode::make(gradients, (*next)++)});
  }
  return result;
}

// The variables in `expr` whose gradients are needed, in order of use.
std::vector<AnyVar> needed_vars(const Expr& expr, const Adjoints& adjoints) {
  std::vector<AnyVar> vars;
  auto visit = [&](const auto* node) {
    const AnyVar var = ref_as<VarBaseNode>(Expr(node));
    if (adjoints.is_needed(var) && std::find(vars.begin(), vars.end(), var) == vars.end())
      vars.push_back(var);
  };
  walk(expr, [&](const VarNode* var) { visit(var); }, [&](const DataflowVarNode* var) { visit(var); });
  return vars;
}

}  // namespace

void GradientSweep::forward(const Binding& binding, BindingCopier& copier) {
  require_supported(binding->value);
  const AnyVar var = copier.emit(binding);
  const Expr bound = builder_.lookup_binding(var);
  adjoints_.define(var, bound);
  forward_.emplace_back(var, bound);
}

void GradientSweep::back() {
  for (size_t n = forward_.size(); n-- > 0;) go_back(forward_[n].first, forward_[n].second);
}

void GradientSweep::go_back(const AnyVar& var, const Expr& value) {
  const Adjoint gradient = adjoints_.of(var);
  if (gradient.is_empty()) return;
  if (const auto* item = value.as<TupleGetItemNode>())
    adjoints_.add_field(item->tuple, static_cast<size_t>(item->index), gradient);
  else if (const auto* call = value.as<CallNode>())
    go_back_through(Call(call), var, gradient);
  else if (const auto* node = value.as<IfNode>())
    go_back_through(If(node), var, gradient);
  else
    adjoints_.add(value, gradient);  // another name, a tuple, a match_cast
}

void GradientSweep::go_back_through(const Call& call, const AnyVar& var, const Adjoint& gradient) {
  const std::string_view name = op_name(call.get());
  Backward backward(adjoints_, call, var, gradient);
  if (name == "relax.call_tir_with_grad") return through_loop_program(backward, gradient);
  const GradientRule rule = find_gradient(name);
  if (!rule) refuse(call, name);
  try {
    rule(backward);
  } catch (Error& error) {
    error.set_default_span(call->span);
    throw;
  }
}

void GradientSweep::go_back_through(const If& node, const AnyVar& var, const Adjoint& gradient) {
  BranchTask task{needed_vars(node, adjoints_), {}, gradient};
  for (const AnyVar& target : task.targets) task.seen.push_back(ref_as<VarBaseNode>(adjoints_.seen(target)));
  const Expr cond = adjoints_.seen(node->cond);
  auto branch = [&](const Expr& forward) {
    const Expr used = without_unused(gradients_of_branch(node, forward, task), &is_removable);
    require_pure(used, module_);
    return used;
  };
  const Expr then = branch(node->true_branch), otherwise = branch(node->false_branch);
  const If gradients = IfNode::make(cond, then, otherwise, Type(), node->span);
  const Expr result = builder_.emit(gradients, var->name_hint + "_if_adjoint");
  int64_t next = 0;
  for (const AnyVar& target : task.targets)
    adjoints_.add(target, spread_gradients(adjoints_, target->type, result, &next));
}

SeqExpr GradientSweep::gradients_of_branch(const If& node, const Expr& branch, const BranchTask& task) const {
  builder_.begin_scope();
  try {
    GradientSweep inner(builder_, module_, options_, this);
    BindingCopier copier(builder_);
    copier.keep_dims(builder_.dims_in_scope());
    for (size_t n = 0; n < task.targets.size(); ++n) {
      copier.define(task.targets[n], task.seen[n]);
      inner.adjoints_.require(task.seen[n]);
    }
    const auto* seq = branch.as<SeqExprNode>();
    for (const BindingBlock& block : seq->blocks) {
      for (const Binding& binding : block->bindings) inner.forward(binding, copier);
    }
    const Expr result = builder_.normalize(copier.copied(seq->body));
    inner.adjoints_.add(result, as_seen_in_branch(inner.adjoints_, task.gradient, type_of(result)));
    inner.back();
    std::vector<Expr> gradients;
    for (size_t n = 0; n < task.targets.size(); ++n)
      collect_gradients(node, task.targets[n], task.targets[n]->type, inner.adjoints_.of(task.seen[n]),
                        &gradients);
    return builder_.end_scope(builder_.normalize(TupleNode::make(std::move(gradients))));
  } catch (...) {
    builder_.abandon_scope();
    throw;
  }
}

// call_tir_with_grad: the registered function gives the gradients of its inputs as tensor expressions.
void GradientSweep::through_loop_program(Backward& backward, const Adjoint& gradient) {
  const Call& call = backward.call();
  const std::string name = call->attrs.get_string("te_grad_name", "");
  if (!options_.te_gradient) throw UserError(call, "gradient: no gradient is registered as \"{}\"", name);
  const auto* tuple = type_of(call).as<TupleTypeNode>();
  const std::vector<Type> types = tuple ? tuple->elements : std::vector<Type>{type_of(call)};
  std::vector<Expr> args;
  for (size_t n = 0; n < types.size(); ++n) {
    const Expr given = !tuple ? gradient.value : backward.grad(n).expr;
    args.push_back(given ? given
                         : zeros(backward.shape_of(types[n]), types[n].as<TensorTypeNode>()->dtype).expr);
  }
  const size_t num_inputs = backward.num_fields(1);
  for (size_t n = 0; n < num_inputs; ++n) args.push_back(backward.x(1, n).expr);
  AttrMap kwargs;
  if (const auto* given = call->attrs.get("te_grad_kwargs").as<DictNode>()) kwargs = given->items;
  const auto grads = [&](const std::vector<te::Tensor>& all) {
    const auto middle = all.begin() + static_cast<long>(types.size());
    return options_.te_gradient(name, {all.begin(), middle}, {middle, all.end()}, kwargs);
  };
  Expr result;
  try {
    result = builder_.emit_te(name, grads, args);
  } catch (Error& error) {
    error.set_default_span(call->span);
    throw;
  }
  const auto* many = type_of(result).as<TupleTypeNode>();
  const size_t count = many ? many->elements.size() : 1;
  if (count != num_inputs)
    throw UserError(call, "gradient: \"{}\" gives {}, but {} has {}", name, count_text(count, "tensor"),
                    call->args[0].as<GlobalVarNode>()->name_hint, count_text(num_inputs, "input"));
  for (size_t n = 0; n < num_inputs; ++n)
    backward.add(1, n, many ? Value{TupleGetItemNode::make(result, static_cast<int64_t>(n))} : Value{result});
}

}  // namespace tilewright::relax
