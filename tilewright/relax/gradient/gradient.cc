// The adjoint of a function: a copy of its bindings, then their gradients from the last to the first.
//   def main(x, y):                   def main_adjoint(x, y):
//     lv = R.multiply(x, y)             lv = R.multiply(x, y)
//     gv = R.sum(lv)            ->      gv = R.sum(lv)
//     return gv                         gv_adjoint = R.ones(())
//                                       lv_adjoint = R.broadcast_to(gv_adjoint, ...)
//                                       return (gv, (R.multiply(lv_adjoint, y), R.multiply(lv_adjoint, x)))
// Source of the method: Griewank and Walther, Evaluating Derivatives, chapter 3
#include "tilewright/relax/gradient/gradient.h"

#include <algorithm>

#include "tilewright/relax/build/copy_bindings.h"
#include "tilewright/relax/gradient/gradient_sweep.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/error.h"

namespace tilewright::relax {

GradientRule find_gradient(std::string_view op) {
  for (size_t file = 0; file < k_gradient_rules_count; ++file) {
    for (size_t row = 0; row < k_gradient_rules[file]->count; ++row) {
      if (k_gradient_rules[file]->rows[row].op == op) return k_gradient_rules[file]->rows[row].rule;
    }
  }
  return nullptr;
}

namespace {

class Differentiator {
 public:
  Differentiator(const IRModule& module, const Function& func, const GradientOptions& options)
      : builder_(module),
        sweep_(builder_, module, options),
        adjoints_(sweep_.adjoints()),
        copier_(builder_),
        func_(func),
        options_(options) {}

  IRModule run() {
    copy_params();
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

  // Writes one dataflow block if the function has nothing else, so that passes can move and fuse all of it.
  void write_body() {
    is_dataflow_ = is_all_dataflow(func_);
    if (is_dataflow_) builder_.begin_dataflow();
    for (const Binding& binding : bindings_of(func_)) sweep_.forward(binding, copier_);
    const Expr result = builder_.normalize(copier_.copied(func_->body.as<SeqExprNode>()->body));
    start_at(result);
    sweep_.back();
    std::vector<Expr> gradients;
    for (size_t n : required()) gradients.push_back(output(gradient_of_param(params_[n]), n));
    if (is_dataflow_) builder_.end_dataflow();
    builder_.emit_func_output(TupleNode::make(std::vector<Expr>{result, TupleNode::make(gradients)}));
  }

  // Starts at the target, whose gradient with respect to itself is 1.
  void start_at(const Expr& result) {
    const Type type = type_of(result);
    const auto* tuple = type.as<TupleTypeNode>();
    const int64_t count = tuple ? static_cast<int64_t>(tuple->elements.size()) : 1;
    if (options_.target_index < 0 || options_.target_index >= count)
      throw UserError(func_, "gradient: target_index is {}, but {} gives {}", options_.target_index,
                      options_.func_name, count_text(count, "value"));
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

  Expr gradient_of_param(const Var& param) { return whole(param->type, adjoints_.of(param)); }
  // The adjoint as a value, with zeros where no gradient was added.
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
  // Binds the gradient to a variable visible outside of the block, named after parameter `n`.
  Expr output(const Expr& gradient, size_t n) {
    if (!is_dataflow_) return gradient;
    return builder_.emit_output(gradient, params_[n]->name_hint + "_adjoint");
  }

  BlockBuilder builder_;
  GradientSweep sweep_;
  Adjoints& adjoints_;
  BindingCopier copier_;
  Function func_;
  const GradientOptions& options_;
  std::vector<Var> params_;
  bool is_dataflow_ = false;
};

}  // namespace

IRModule gradient(const IRModule& module, const GradientOptions& options) {
  return Differentiator(module, graph_function(module, options.func_name, "gradient"), options).run();
}

}  // namespace tilewright::relax
