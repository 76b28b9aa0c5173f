// The adjoint of a function: its bindings again, then their gradients from the last to the first.
//   def main(x, y):                       def main_adjoint(x, y):
//     lv = R.multiply(x, y)                 lv = R.multiply(x, y)
//     gv = R.sum(lv)                  ->    gv = R.sum(lv)
//     return gv                             gv_adjoint = R.ones(())
//                                           lv_adjoint = R.broadcast_to(gv_adjoint, ...)
//                                           return (gv, (R.multiply(lv_adjoint, y), R.multiply(lv_adjoint,
//                                           x)))
// Source of the method: Griewank and Walther, Evaluating Derivatives, chapter 3
#include "tilewright/relax/gradient.h"

#include "tilewright/relax/copy_bindings.h"
#include "tilewright/relax/gradient_adjoints.h"
#include "tilewright/relax/liveness.h"
#include "tilewright/support/error.h"

namespace tilewright::relax {

GradientRule find_gradient(std::string_view op) {
  for (size_t file = 0; file < k_gradients_count; ++file) {
    for (size_t row = 0; row < k_gradients[file]->count; ++row) {
      if (k_gradients[file]->rows[row].op == op) return k_gradients[file]->rows[row].rule;
    }
  }
  return nullptr;
}

namespace {

class Differentiator {
 public:
  Differentiator(const IRModule& module, const Function& func, const GradientOptions& options)
      : builder_(module), adjoints_(builder_), copier_(builder_), func_(func), options_(options) {}

  IRModule run() {
    copy_params();
    for (const Binding& binding : bindings_of(func_)) require_supported(binding);
    FunctionOptions about{.attrs = func_->attrs, .is_pure = func_->is_pure};
    about.is_private = !func_->attrs.contains("global_symbol");
    about.attrs.erase("global_symbol");
    builder_.function(options_.func_name + "_adjoint", params_, [&] { write_body(); }, std::move(about));
    return builder_.get();
  }

 private:
  void copy_params() {
    for (const Var& param : func_->params) params_.push_back(copier_.copy_param(param));
    for (size_t n : required()) {
      adjoints_.require(params_[n]);
      if (!is_differentiable(params_[n]->type))
        throw UserError(func_->params[n], "gradient: parameter {} is {}, expected floating-point tensors",
                        params_[n]->name_hint, type_text(params_[n]->type));
    }
  }

  static bool is_differentiable(const Type& type) {
    if (const auto* tensor = type.as<TensorTypeNode>()) return tensor->dtype.is_float();
    const auto* tuple = type.as<TupleTypeNode>();
    return tuple && std::all_of(tuple->elements.begin(), tuple->elements.end(), is_differentiable);
  }
  std::vector<size_t> required() const {
    if (options_.require_grads) return *options_.require_grads;
    std::vector<size_t> all;
    for (size_t n = 0; n < func_->params.size(); ++n) {
      if (is_differentiable(func_->params[n]->type)) all.push_back(n);
    }
    return all;
  }

  static void require_supported(const Binding& binding) {
    if (is<IfNode>(binding->value))
      throw Unsupported(binding->value, "gradient: there is no gradient of `if`")
          .help("use R.where where both branches may be computed");
    if (is<FunctionNode>(binding->value))
      throw Unsupported(binding->value, "gradient: there is no gradient of functions inside of functions");
  }

  // One dataflow block if the function has nothing else, so that all of it can be moved and fused.
  void write_body() {
    is_dataflow_ = is_all_dataflow(func_);
    if (is_dataflow_) builder_.begin_dataflow();
    for (const Binding& binding : bindings_of(func_)) write_forward(binding);
    const Expr result = builder_.normalize(copier_.copied(func_->body.as<SeqExprNode>()->body));
    start_at(result);
    for (size_t n = forward_.size(); n-- > 0;) go_back(forward_[n].first, forward_[n].second);
    std::vector<Expr> gradients;
    for (size_t n : required()) gradients.push_back(output(gradient_of_param(params_[n]), n));
    if (is_dataflow_) builder_.end_dataflow();
    builder_.emit_func_output(TupleNode::make(std::vector<Expr>{result, TupleNode::make(gradients)}));
  }

  void write_forward(const Binding& binding) {
    const AnyVar var = copier_.emit(binding);
    const Expr bound = builder_.lookup_binding(var);
    adjoints_.define(var, bound);
    forward_.emplace_back(var, bound);
  }

  // The gradient of the target in itself is 1.
  void start_at(const Expr& result) {
    const Type type = type_of(result);
    const auto* tuple = type.as<TupleTypeNode>();
    const int64_t count = tuple ? static_cast<int64_t>(tuple->elements.size()) : 1;
    if (options_.target_index < 0 || options_.target_index >= count)
      throw UserError(func_, "gradient: target_index is {}, but {} gives {} value{}", options_.target_index,
                      options_.func_name, count, count == 1 ? "" : "s");
    const auto index = static_cast<size_t>(options_.target_index);
    const Type target = tuple ? tuple->elements[index] : type;
    const auto* tensor = target.as<TensorTypeNode>();
    if (!tensor || tensor->ndim != 0 || !tensor->dtype.is_float())
      throw UserError(func_,
                      "gradient: the target is {}, expected a floating-point tensor without dimensions",
                      type_text(target))
          .help("sum it up, e.g. R.sum(loss)");
    const Value one = apply("ones", {shape_value({})}, {{"dtype", attr(tensor->dtype)}});
    if (!adjoints_.is_needed(result)) return;
    const Adjoint seed{adjoints_.emit(one, "target_adjoint"), {}};
    if (tuple)
      adjoints_.add_field(result, index, seed);
    else
      adjoints_.add(result, seed);
  }

  void go_back(const AnyVar& var, const Expr& value) {
    const Adjoint gradient = adjoints_.of(var);
    if (gradient.is_empty()) return;
    if (const auto* item = value.as<TupleGetItemNode>())
      adjoints_.add_field(item->tuple, static_cast<size_t>(item->index), gradient);
    else if (const auto* call = value.as<CallNode>())
      go_back_through(Call(call), var, gradient);
    else
      adjoints_.add(value, gradient);  // another name, a tuple, a match_cast
  }

  void go_back_through(const Call& call, const AnyVar& var, const Adjoint& gradient) {
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

  [[noreturn]] static void refuse(const Call& call, std::string_view name) {
    const auto* callee = call->args.empty() ? nullptr : call->args[0].as<GlobalVarNode>();
    if (name == "relax.call_tir" && callee)
      throw Unsupported(call, "gradient: there is no gradient of call_tir: {} is a loop program",
                        callee->name_hint)
          .help(
              "call it by R.call_tir_with_grad with te_grad_name, and register_te_gradient under that name");
    if (const auto* func = call->op.as<GlobalVarNode>())
      throw Unsupported(call, "gradient: there is no gradient of a call of function {}", func->name_hint)
          .help("write its body where it is called");
    throw Unsupported(call, "gradient: there is no gradient of {}",
                      name.empty() ? "a call of a function value" : op_detail::short_name(name))
        .help("R.grad.no_grad(value) keeps gradients from it");
  }

  // call_tir_with_grad: the registered function says the gradients of its inputs as tensor expressions
  void through_loop_program(Backward& backward, const Adjoint& gradient) {
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
      throw UserError(call, "gradient: \"{}\" gives {} tensor{}, but {} has {} input{}", name, count,
                      count == 1 ? "" : "s", call->args[0].as<GlobalVarNode>()->name_hint, num_inputs,
                      num_inputs == 1 ? "" : "s");
    for (size_t n = 0; n < num_inputs; ++n)
      backward.add(1, n,
                   many ? Value{TupleGetItemNode::make(result, static_cast<int64_t>(n))} : Value{result});
  }

  Expr gradient_of_param(const Var& param) { return whole(param->type, adjoints_.of(param)); }
  // The adjoint as a value, zeros where nothing came.
  Expr whole(const Type& type, const Adjoint& adjoint) {
    if (const auto* tuple = type.as<TupleTypeNode>()) {
      std::vector<Expr> fields;
      for (size_t n = 0; n < tuple->elements.size(); ++n)
        fields.push_back(
            whole(tuple->elements[n], n < adjoint.fields.size() ? adjoint.fields[n] : Adjoint()));
      return TupleNode::make(std::move(fields));
    }
    if (adjoint.value) return adjoint.value;
    const auto* tensor = type.as<TensorTypeNode>();
    const Shape* shape = known_shape(tensor);
    if (!shape)
      throw Unsupported(func_, "gradient: nothing depends on a parameter of type {}, whose shape is unknown",
                        type_text(type));
    return zeros(*shape, tensor->dtype).expr;
  }
  // Seen outside of the block, under the name of parameter `n`.
  Expr output(const Expr& gradient, size_t n) {
    if (!is_dataflow_) return gradient;
    return builder_.emit_output(gradient, params_[n]->name_hint + "_adjoint");
  }

  BlockBuilder builder_;
  Adjoints adjoints_;
  BindingCopier copier_;
  Function func_;
  const GradientOptions& options_;
  std::vector<Var> params_;
  std::vector<std::pair<AnyVar, Expr>> forward_;
  bool is_dataflow_ = false;
};

}  // namespace

IRModule gradient(const IRModule& module, const GradientOptions& options) {
  return Differentiator(module, graph_function(module, options.func_name, "gradient"), options).run();
}

}  // namespace tilewright::relax
