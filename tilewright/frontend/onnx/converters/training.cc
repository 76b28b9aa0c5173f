// Steps of training.  Source: onnx.ai/onnx/operators, ai.onnx.preview.training 1.
#include "tilewright/frontend/onnx/import/convert.h"
#include "tilewright/support/count_text.h"

namespace tilewright::frontend::onnx {
namespace {

/// Inputs 0 and 1 are the rate and the number of steps before; then lists of as many tensors each: the parameters,
/// their gradients, and `num_states` states of each.  The outputs are new parameters and states.
class Step {
 public:
  Step(Importer& importer, const Node& node, size_t num_states)
      : importer_(importer), node_(node), count_((node.inputs.size() - 2) / (2 + num_states)) {
    if ((node.inputs.size() - 2) % (2 + num_states) != 0 || node.outputs.size() != count_ * (1 + num_states))
      throw UserError("{} and {}, expected 2 and {} for each parameter, and {}",
                      count_text(node.inputs.size(), "input"), count_text(node.outputs.size(), "output"),
                      2 + num_states, count_text(1 + num_states, "output"));
  }

  size_t count() const { return count_; }
  Expr rate() const { return importer_.value(node_, 0); }
  /// T in the dtype of `like`.
  Expr time(const Expr& like) const {
    return bound_as(importer_, importer_.value(node_, 1), relax::dtype_of(like));
  }
  /// Tensor n of list `list`: 0 are the parameters, 1 the gradients, then the states.
  Expr of(size_t list, size_t n) const { return importer_.value(node_, 2 + list * count_ + n); }
  void define(size_t list, size_t n, const Expr& value) const {
    importer_.define(node_.outputs[list * count_ + n], value);
  }
  /// Gradient n with that of the penalty norm_coefficient / 2 * x^2.
  Expr gradient(size_t n) const {
    return add(of(1, n), scaled(of(0, n), float_attr(node_, "norm_coefficient", 0)));
  }

  Expr call(std::string_view op, std::vector<Expr> args) const {
    return importer_.bind(node_, op, std::move(args));
  }
  Expr add(const Expr& a, const Expr& b) const { return call("relax.add", {a, b}); }
  Expr subtract(const Expr& a, const Expr& b) const { return call("relax.subtract", {a, b}); }
  Expr multiply(const Expr& a, const Expr& b) const { return call("relax.multiply", {a, b}); }
  Expr divide(const Expr& a, const Expr& b) const { return call("relax.divide", {a, b}); }
  Expr scaled(const Expr& a, double factor) const { return multiply(a, number(factor, relax::dtype_of(a))); }
  Expr plus(const Expr& a, double term) const { return add(a, number(term, relax::dtype_of(a))); }
  /// `later` after the first step, else `first`.
  Expr after_first(const Expr& later, const Expr& first) const {
    const Expr time = importer_.value(node_, 1);
    const Expr is_later = call("relax.greater", {time, number(0, relax::dtype_of(time))});
    return call("relax.where", {is_later, later, first});
  }

 private:
  Importer& importer_;
  const Node& node_;
  size_t count_;
};

void adagrad(Importer& importer, const Node& node) {
  const Step s(importer, node, 1);
  const Expr slower = s.plus(s.scaled(s.time(s.rate()), float_attr(node, "decay_factor", 0)), 1);
  const Expr rate = s.divide(s.rate(), slower);
  for (size_t n = 0; n < s.count(); ++n) {
    const Expr gradient = s.gradient(n);
    const Expr squares = s.add(s.of(2, n), s.multiply(gradient, gradient));
    const Expr divisor = s.plus(s.call("relax.sqrt", {squares}), float_attr(node, "epsilon", 1e-6F));
    s.define(0, n, s.subtract(s.of(0, n), s.divide(s.multiply(rate, gradient), divisor)));
    s.define(1, n, squares);
  }
}

void adam(Importer& importer, const Node& node) {
  const Step s(importer, node, 2);
  const double alpha = float_attr(node, "alpha", 0.9F), beta = float_attr(node, "beta", 0.999F);
  const auto one_minus_power = [&](double base) {
    const Expr time = s.time(s.rate());
    const Expr power = s.call("relax.power", {number(base, relax::dtype_of(time)), time});
    return s.call("relax.subtract", {number(1, relax::dtype_of(time)), power});
  };
  const Expr corrected =
      s.divide(s.multiply(s.rate(), s.call("relax.sqrt", {one_minus_power(beta)})), one_minus_power(alpha));
  const Expr rate = s.after_first(corrected, s.rate());
  for (size_t n = 0; n < s.count(); ++n) {
    const Expr gradient = s.gradient(n);
    const Expr mean = s.add(s.scaled(s.of(2, n), alpha), s.scaled(gradient, 1 - alpha));
    const Expr squares =
        s.add(s.scaled(s.of(3, n), beta), s.scaled(s.multiply(gradient, gradient), 1 - beta));
    const Expr divisor = s.plus(s.call("relax.sqrt", {squares}), float_attr(node, "epsilon", 1e-6F));
    const Expr moved = s.subtract(s.of(0, n), s.divide(s.multiply(rate, mean), divisor));
    s.define(0, n, s.scaled(moved, 1 - float_attr(node, "norm_coefficient_post", 0)));
    s.define(1, n, mean);
    s.define(2, n, squares);
  }
}

void momentum(Importer& importer, const Node& node) {
  const Step s(importer, node, 1);
  const std::string mode = string_attr(node, "mode", "");
  require_known_text("mode", mode, {"standard", "nesterov"});
  const double alpha = float_attr(node, "alpha", 0), beta = float_attr(node, "beta", 0);
  for (size_t n = 0; n < s.count(); ++n) {
    const Expr gradient = s.gradient(n);
    const Expr added = s.after_first(s.scaled(gradient, beta), gradient);
    const Expr velocity = s.add(s.scaled(s.of(2, n), alpha), added);
    const Expr step = mode == "standard" ? velocity : s.add(gradient, s.scaled(velocity, alpha));
    s.define(0, n, s.subtract(s.of(0, n), s.multiply(s.rate(), step)));
    s.define(1, n, velocity);
  }
}

void refuse_gradient(Importer&, const Node&) {
  throw Unsupported(
      "it asks for the gradient of a part of the graph, which is not made while a model is read")
      .help("import the model without it, then call tilewright.relax.transform.Gradient");
}

constexpr AttributeRule kAdagrad[] = {{"decay_factor", Attribute::kFloat},
                                      {"epsilon", Attribute::kFloat},
                                      {"norm_coefficient", Attribute::kFloat}};
constexpr AttributeRule kAdam[] = {{"alpha", Attribute::kFloat},
                                   {"beta", Attribute::kFloat},
                                   {"epsilon", Attribute::kFloat},
                                   {"norm_coefficient", Attribute::kFloat},
                                   {"norm_coefficient_post", Attribute::kFloat}};
constexpr AttributeRule kMomentum[] = {
    required("alpha", Attribute::kFloat), required("beta", Attribute::kFloat),
    required("mode", Attribute::kString), required("norm_coefficient", Attribute::kFloat)};
constexpr AttributeRule kGradient[] = {
    {"xs", Attribute::kStrings}, {"y", Attribute::kString}, {"zs", Attribute::kStrings}};

constexpr ConverterRow kRows[] = {
    {"ai.onnx.preview.training::Adagrad", adagrad, 3, kAnyNumber, kAdagrad, kAnyNumber, kFirstOpset,
     kLastOpset, kAnyNumber},
    {"ai.onnx.preview.training::Adam", adam, 3, kAnyNumber, kAdam, kAnyNumber, kFirstOpset, kLastOpset,
     kAnyNumber},
    {"ai.onnx.preview.training::Gradient", refuse_gradient, 1, kAnyNumber, kGradient, kAnyNumber, kFirstOpset,
     kLastOpset, kAnyNumber},
    {"ai.onnx.preview.training::Momentum", momentum, 3, kAnyNumber, kMomentum, kAnyNumber, kFirstOpset,
     kLastOpset, kAnyNumber},
};

}  // namespace

extern constinit const ConverterTable training_info = {kRows};

}  // namespace tilewright::frontend::onnx
