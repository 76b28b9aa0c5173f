// Elementwise operators: the gradient times the derivative at x, or at the result y where that is cheaper.
#include <cmath>
#include <numbers>

#include "tilewright/relax/gradient/gradient.h"
#include "tilewright/relax/infer/op_util.h"

namespace tilewright::relax {
namespace {

Value zero_of(const Backward& b) { return b.number(0); }

// ---- exponentials and roots
void of_exp(Backward& b) { b.add(0, b.grad() * b.out()); }
void of_log(Backward& b) { b.add(0, b.grad() / b.x(0)); }
void of_log2(Backward& b) { b.add(0, b.grad() / (b.x(0) * b.number(std::numbers::ln2))); }
void of_log10(Backward& b) { b.add(0, b.grad() / (b.x(0) * b.number(std::numbers::ln10))); }
void of_sqrt(Backward& b) { b.add(0, b.grad() / (b.out() * b.number(2))); }
void of_rsqrt(Backward& b) { b.add(0, b.grad() * b.number(-0.5) * b.out() * b.out() * b.out()); }
void of_square(Backward& b) { b.add(0, b.grad() * b.x(0) * b.number(2)); }

// ---- trigonometry
void of_sin(Backward& b) { b.add(0, b.grad() * apply("cos", {b.x(0)})); }
void of_cos(Backward& b) { b.add(0, -(b.grad() * apply("sin", {b.x(0)}))); }
void of_tan(Backward& b) { b.add(0, b.grad() * (b.out() * b.out() + b.number(1))); }
void of_asin(Backward& b) { b.add(0, b.grad() * apply("rsqrt", {b.number(1) - b.x(0) * b.x(0)})); }
void of_acos(Backward& b) { b.add(0, -(b.grad() * apply("rsqrt", {b.number(1) - b.x(0) * b.x(0)}))); }
void of_atan(Backward& b) { b.add(0, b.grad() / (b.x(0) * b.x(0) + b.number(1))); }
void of_sinh(Backward& b) { b.add(0, b.grad() * apply("cosh", {b.x(0)})); }
void of_cosh(Backward& b) { b.add(0, b.grad() * apply("sinh", {b.x(0)})); }
void of_tanh(Backward& b) { b.add(0, b.grad() * (b.number(1) - b.out() * b.out())); }
void of_asinh(Backward& b) { b.add(0, b.grad() * apply("rsqrt", {b.x(0) * b.x(0) + b.number(1)})); }
void of_acosh(Backward& b) { b.add(0, b.grad() * apply("rsqrt", {b.x(0) * b.x(0) - b.number(1)})); }
void of_atanh(Backward& b) { b.add(0, b.grad() / (b.number(1) - b.x(0) * b.x(0))); }

// ---- signs and bounds: the gradient is 0 at corners, as in torch
void of_negative(Backward& b) { b.add(0, -b.grad()); }
void of_abs(Backward& b) { b.add(0, b.grad() * apply("sign", {b.x(0)})); }
void of_steps(Backward&) {}  // constant between steps: no gradient
void of_clip(Backward& b) { b.add(0, select(apply("equal", {b.x(0), b.out()}), b.grad(), zero_of(b))); }

// ---- activations
void of_sigmoid(Backward& b) { b.add(0, b.grad() * b.out() * (b.number(1) - b.out())); }
// 2 / sqrt(pi) * exp(-x * x)
void of_erf(Backward& b) {
  const Value bell = apply("exp", {-(b.x(0) * b.x(0))});
  b.add(0, b.grad() * b.number(2 * std::numbers::inv_sqrtpi) * bell);
}
void of_relu(Backward& b) { b.add(0, select(apply("greater", {b.x(0), zero_of(b)}), b.grad(), zero_of(b))); }
void of_relu6(Backward& b) {
  const Value above = apply("greater", {b.x(0), zero_of(b)}), below = apply("less", {b.x(0), b.number(6)});
  b.add(0, select(apply("logical_and", {above, below}), b.grad(), zero_of(b)));
}
void of_leakyrelu(Backward& b) {
  const Value slope = b.number(b.call()->attrs.get_float("alpha", 0.01));
  b.add(0, select(apply("greater", {b.x(0), zero_of(b)}), b.grad(), b.grad() * slope));
}
// (1 + erf(x / sqrt(2))) / 2 + x * exp(-x * x / 2) / sqrt(2 * pi)
void of_gelu(Backward& b) {
  const Value x = b.x(0);
  const Value share = (apply("erf", {x * b.number(std::numbers::sqrt2 / 2)}) + b.number(1)) * b.number(0.5);
  const Value bell = apply("exp", {x * x * b.number(-0.5)});
  const double scale = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  b.add(0, b.grad() * (share + x * bell * b.number(scale)));
}
// y = x / 2 * (1 + t), t = tanh(c * (x + k * x^3))
void of_gelu_tanh(Backward& b) {
  const double c = std::sqrt(2 / std::numbers::pi), k = 0.044715;
  const Value x = b.x(0), square = b.bind(x * x);
  const Value t = b.bind(apply("tanh", {(x + x * square * b.number(k)) * b.number(c)}));
  const Value slope = (b.number(1) - t * t) * (b.number(c) + square * b.number(3 * k * c));
  b.add(0, b.grad() * ((t + b.number(1)) * b.number(0.5) + x * slope * b.number(0.5)));
}
// y = x * s, s = sigmoid(x):  s + y * (1 - s)
void of_silu(Backward& b) {
  const Value s = b.bind(apply("sigmoid", {b.x(0)}));
  b.add(0, b.grad() * (s + b.out() * (b.number(1) - s)));
}
void of_selu(Backward& b) {
  const double scale = 1.0507009873554805, alpha = 1.6732632423543772;
  const Value curve = apply("exp", {b.x(0)}) * b.number(scale * alpha);
  b.add(0, b.grad() * select(apply("greater", {b.x(0), zero_of(b)}), b.number(scale), curve));
}
void of_softplus(Backward& b) {
  const Value scaled = b.bind(b.x(0) * b.number(b.call()->attrs.get_float("beta", 1)));
  const Value is_linear = apply("greater", {scaled, b.number(b.call()->attrs.get_float("threshold", 20))});
  b.add(0, select(is_linear, b.grad(), b.grad() * apply("sigmoid", {scaled})));
}

// add converts the gradient back
void of_conversion(Backward& b) { b.add(0, b.grad()); }

constexpr GradientRow kRows[] = {
    {"relax.exp", of_exp},
    {"relax.log", of_log},
    {"relax.log2", of_log2},
    {"relax.log10", of_log10},
    {"relax.sqrt", of_sqrt},
    {"relax.rsqrt", of_rsqrt},
    {"relax.square", of_square},
    {"relax.sin", of_sin},
    {"relax.cos", of_cos},
    {"relax.tan", of_tan},
    {"relax.asin", of_asin},
    {"relax.acos", of_acos},
    {"relax.atan", of_atan},
    {"relax.sinh", of_sinh},
    {"relax.cosh", of_cosh},
    {"relax.tanh", of_tanh},
    {"relax.asinh", of_asinh},
    {"relax.acosh", of_acosh},
    {"relax.atanh", of_atanh},
    {"relax.negative", of_negative},
    {"relax.abs", of_abs},
    {"relax.sign", of_steps},
    {"relax.floor", of_steps},
    {"relax.ceil", of_steps},
    {"relax.round", of_steps},
    {"relax.trunc", of_steps},
    {"relax.clip", of_clip},
    {"relax.sigmoid", of_sigmoid},
    {"relax.erf", of_erf},
    {"relax.nn.relu", of_relu},
    {"relax.nn.relu6", of_relu6},
    {"relax.nn.leakyrelu", of_leakyrelu},
    {"relax.nn.gelu", of_gelu},
    {"relax.nn.gelu_tanh", of_gelu_tanh},
    {"relax.nn.silu", of_silu},
    {"relax.nn.selu", of_selu},
    {"relax.nn.softplus", of_softplus},
    {"relax.astype", of_conversion},
    {"relax.wrap_param", of_conversion},
};

}  // namespace

extern constinit const GradientTable unary_gradients_info = gradient_table(kRows);

}  // namespace tilewright::relax
