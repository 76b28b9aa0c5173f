// Elementwise functions that consist of several operators: activations, bounds.  Source:
// onnx.ai/onnx/operators, opset 7 to 24.
#include "tilewright/frontend/onnx/import/convert.h"

namespace tilewright::frontend::onnx {
namespace {

Expr call(std::string_view op, std::vector<Expr> args) { return relax::call_op(op, std::move(args), {}); }
Expr add(const Expr& a, const Expr& b) { return call("relax.add", {a, b}); }
Expr multiply(const Expr& a, const Expr& b) { return call("relax.multiply", {a, b}); }
Expr minimum(const Expr& a, const Expr& b) { return call("relax.minimum", {a, b}); }
Expr maximum(const Expr& a, const Expr& b) { return call("relax.maximum", {a, b}); }

/// A formula of one input x; its constants have the dtype of x.
struct Formula {
  Importer& importer;
  const Node& node;
  Expr x = importer.value(node, 0);
  DataType dtype = relax::dtype_of(x);

  Expr value(double constant) const { return number(constant, dtype); }
  Expr attr(std::string_view name, double otherwise) const {
    return value(float_attr(node, name, otherwise));
  }
  Expr bound(const Expr& expr) const { return importer.bound(expr); }
  void result(const Expr& expr) const { importer.define(node.outputs.at(0), bound(expr)); }
};

void reciprocal(Importer& importer, const Node& node) {
  const Formula f{importer, node};
  f.result(call("relax.divide", {f.value(1), f.x}));
}

void softplus(Importer& importer, const Node& node) {
  importer.emit(node, "relax.nn.softplus", {importer.value(node, 0)});
}

void softsign(Importer& importer, const Node& node) {
  const Formula f{importer, node};
  f.result(call("relax.divide", {f.x, add(f.bound(call("relax.abs", {f.x})), f.value(1))}));
}

void mish(Importer& importer, const Node& node) {
  const Formula f{importer, node};
  const Expr soft = f.bound(call("relax.nn.softplus", {f.x}));
  f.result(multiply(f.x, f.bound(call("relax.tanh", {soft}))));
}

void swish(Importer& importer, const Node& node) {
  const Formula f{importer, node};
  f.result(multiply(f.x, f.bound(call("relax.sigmoid", {f.bound(multiply(f.x, f.attr("alpha", 1)))}))));
}

// swish(a) * b; their shapes must be equal
void swiglu(Importer& importer, const Node& node) {
  const Formula f{importer, node};
  const Expr b = importer.value(node, 1);
  importer.require(node, relax::is_same_shape(shape_of(node, f.x), shape_of(node, b)),
                   "A is {}, but B is {}: their shapes differ", shape_of(node, f.x), shape_of(node, b));
  const Expr gate = f.bound(call("relax.sigmoid", {f.bound(multiply(f.x, f.attr("alpha", 1)))}));
  f.result(multiply(f.bound(multiply(f.x, gate)), b));
}

// max(0, min(1, alpha * x + beta))
Expr hard_sigmoid_of(const Formula& f, const Expr& alpha, const Expr& beta) {
  const Expr line = f.bound(add(f.bound(multiply(f.x, alpha)), beta));
  return f.bound(maximum(f.bound(minimum(line, f.value(1))), f.value(0)));
}

void hard_sigmoid(Importer& importer, const Node& node) {
  const Formula f{importer, node};
  f.result(hard_sigmoid_of(f, f.attr("alpha", 0.2), f.attr("beta", 0.5)));
}

void hard_swish(Importer& importer, const Node& node) {
  const Formula f{importer, node};
  f.result(multiply(f.x, hard_sigmoid_of(f, f.value(1.0 / 6), f.value(0.5))));
}

// `below` * (exp(x * inner) - 1) for x < 0, `above` * x for x > 0
void exponential_unit(const Formula& f, double inner, double below, double above) {
  const Expr negative = f.bound(minimum(f.bound(multiply(f.x, f.value(inner))), f.value(0)));
  const Expr curve = f.bound(call("relax.subtract", {f.bound(call("relax.exp", {negative})), f.value(1)}));
  const Expr line = f.bound(maximum(f.x, f.value(0)));
  f.result(add(f.bound(multiply(curve, f.value(below))), f.bound(multiply(line, f.value(above)))));
}

void elu(Importer& importer, const Node& node) {
  exponential_unit({importer, node}, 1, float_attr(node, "alpha", 1), 1);
}

void celu(Importer& importer, const Node& node) {
  const double alpha = float_attr(node, "alpha", 1);
  if (alpha == 0) throw UserError("attribute \"alpha\" is 0, but x is divided by it");
  exponential_unit({importer, node}, 1 / alpha, alpha, 1);
}

void selu(Importer& importer, const Node& node) {
  const double gamma = float_attr(node, "gamma", 1.05070102214813232421875);
  exponential_unit({importer, node}, 1, gamma * float_attr(node, "alpha", 1.67326319217681884765625), gamma);
}

void leaky_relu(Importer& importer, const Node& node) {
  const Formula f{importer, node};
  importer.emit(node, "relax.nn.leakyrelu", {f.x}, {{"alpha", attr(float_attr(node, "alpha", 0.01))}});
}

void prelu(Importer& importer, const Node& node) {
  const Formula f{importer, node};
  // the slope has the extents of x or 1, also where they are symbolic
  const Expr shape = relax::shape_expr(shape_of(node, f.x));
  const Expr slope = f.bound(call("relax.broadcast_to", {importer.value(node, 1), shape}));
  const Expr scaled = f.bound(multiply(f.x, slope));
  f.result(call("relax.where", {f.bound(call("relax.less", {f.x, f.value(0)})), scaled, f.x}));
}

void thresholded_relu(Importer& importer, const Node& node) {
  const Formula f{importer, node};
  f.result(call("relax.where", {f.bound(call("relax.greater", {f.x, f.attr("alpha", 1)})), f.x, f.value(0)}));
}

// x + bias below -lambd, x - bias above lambd, 0 in between
void shrink(Importer& importer, const Node& node) {
  const Formula f{importer, node};
  const double lambd = float_attr(node, "lambd", 0.5), bias = float_attr(node, "bias", 0);
  const Expr above = f.bound(call("relax.greater", {f.x, f.value(lambd)})),
             below = f.bound(call("relax.less", {f.x, f.value(-lambd)}));
  const Expr inner =
      f.bound(call("relax.where", {below, f.bound(add(f.x, f.value(bias))), f.bound(f.value(0))}));
  f.result(call("relax.where", {above, f.bound(add(f.x, f.value(-bias))), inner}));
}

void gelu(Importer& importer, const Node& node) {
  const std::string mode = string_attr(node, "approximate", "none");
  require_known_text("approximate", mode, {"none", "tanh"});
  importer.emit(node, mode == "tanh" ? "relax.nn.gelu_tanh" : "relax.nn.gelu", {importer.value(node, 0)});
}

void is_inf(Importer& importer, const Node& node) {
  const Formula f{importer, node};
  const bool negative = int_attr(node, "detect_negative", 1), positive = int_attr(node, "detect_positive", 1);
  const Expr infinite = f.bound(call("relax.isinf", {f.x}));
  if (negative && positive) return importer.define(node.outputs.at(0), infinite);
  if (!negative && !positive)
    return f.result(call("relax.logical_and", {infinite, f.bound(number(0, kBoolType))}));
  const Expr side = call(negative ? "relax.less" : "relax.greater", {f.x, f.value(0)});
  f.result(call("relax.logical_and", {infinite, f.bound(side)}));
}

// Bounds are attributes before opset 11, and inputs since then.
void clip(Importer& importer, const Node& node) {
  const Formula f{importer, node};
  Expr result = f.x;
  const auto bound = [&](const char* name, size_t input) -> Expr {
    if (node.find(name)) return f.attr(name, 0);
    return importer.value(node, input);
  };
  if (const Expr low = bound("min", 1)) result = f.bound(maximum(result, low));
  if (const Expr high = bound("max", 2)) result = f.bound(minimum(result, high));
  importer.define(node.outputs.at(0), result);
}

constexpr AttributeRule kAlpha[] = {{"alpha", Attribute::kFloat}};
constexpr AttributeRule kClip[] = {{"max", Attribute::kFloat, kAnyLeast, kAnyMost, kFirstOpset, 10},
                                   {"min", Attribute::kFloat, kAnyLeast, kAnyMost, kFirstOpset, 10}};
constexpr AttributeRule kGelu[] = {{"approximate", Attribute::kString}};
constexpr AttributeRule kHardSigmoid[] = {{"alpha", Attribute::kFloat}, {"beta", Attribute::kFloat}};
constexpr AttributeRule kIsInf[] = {flag("detect_negative"), flag("detect_positive")};
constexpr AttributeRule kSelu[] = {{"alpha", Attribute::kFloat}, {"gamma", Attribute::kFloat}};
constexpr AttributeRule kShrink[] = {{"bias", Attribute::kFloat}, {"lambd", Attribute::kFloat}};

constexpr ConverterRow kRows[] = {
    {"Celu", celu, 1, 1, kAlpha, 1, 12},
    {"Clip", clip, 1, 1, kClip, 1, kFirstOpset, 10},
    {"Clip", clip, 1, 3, kClip, 1, 11},
    {"Elu", elu, 1, 1, kAlpha},
    {"Gelu", gelu, 1, 1, kGelu, 1, 20},
    {"HardSigmoid", hard_sigmoid, 1, 1, kHardSigmoid},
    {"HardSwish", hard_swish, 1, 1, {}, 1, 14},
    {"IsInf", is_inf, 1, 1, kIsInf, 1, 10},
    {"LeakyRelu", leaky_relu, 1, 1, kAlpha},
    {"Mish", mish, 1, 1, {}, 1, 18},
    {"PRelu", prelu, 2, 2},
    {"Reciprocal", reciprocal, 1, 1},
    {"Selu", selu, 1, 1, kSelu},
    {"Shrink", shrink, 1, 1, kShrink, 1, 9},
    {"Softplus", softplus, 1, 1},
    {"Softsign", softsign, 1, 1},
    {"SwiGLU", swiglu, 2, 2, kAlpha, 1, 28},
    {"Swish", swish, 1, 1, kAlpha, 1, 24},
    {"ThresholdedRelu", thresholded_relu, 1, 1, kAlpha},
};

}  // namespace

extern constinit const ConverterTable activation_info = {kRows};

}  // namespace tilewright::frontend::onnx
