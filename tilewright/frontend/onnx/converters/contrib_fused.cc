// Products, convolutions and activations that onnxruntime's optimizer joins, of the domain com.microsoft.
// Source: github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include <functional>

#include "tilewright/frontend/onnx/converters/attributes.h"
#include "tilewright/frontend/onnx/graphs/convert_window.h"
#include "tilewright/frontend/onnx/graphs/node_math.h"
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::frontend::onnx {
namespace {

// ---- activations

// `x` after the function that attribute "activation" names; `number_at` has its parameters.
Expr activated(const NodeMath& math, const Expr& x, const std::function<double(size_t, double)>& number_at) {
  const std::string name = string_attr(math.node(), "activation", "");
  const auto at_least = [&](const Expr& a, double b) {
    return math.call("relax.maximum", {a, math.number_like(a, b)});
  };
  const auto at_most = [&](const Expr& a, double b) {
    return math.call("relax.minimum", {a, math.number_like(a, b)});
  };
  if (name.empty()) return x;
  require_known_text("activation", name,
                     {"Relu", "Tanh", "Sigmoid", "LeakyRelu", "Clip", "HardSigmoid", "Gelu", "HardSwish"});
  if (name == "Relu") return math.call("relax.nn.relu", {x});
  if (name == "Tanh") return math.call("relax.tanh", {x});
  if (name == "Sigmoid") return math.call("relax.sigmoid", {x});
  if (name == "Gelu") return math.call("relax.nn.gelu", {x});
  if (name == "LeakyRelu") return math.call("relax.nn.leakyrelu", {x}, {{"alpha", attr(number_at(0, 0.01))}});
  if (name == "Clip") return at_most(at_least(x, number_at(0, -3.4e38)), number_at(1, 3.4e38));
  const bool is_swish = name == "HardSwish";
  const Expr line = math.add(math.scaled(x, is_swish ? 1.0 / 6 : number_at(0, 0.2)),
                             math.number_like(x, is_swish ? 0.5 : number_at(1, 0.5)));
  const Expr gate = at_least(at_most(line, 1), 0);
  return is_swish ? math.multiply(x, gate) : gate;
}

// With parameters in one list.
Expr activated_by_list(const NodeMath& math, const Expr& x) {
  const Attribute* params = math.node().find("activation_params");
  return activated(math, x, [&](size_t n, double otherwise) {
    return params && n < params->numbers.size() ? params->numbers[n] : otherwise;
  });
}
// With parameters in attributes of their own.
Expr activated_by_name(const NodeMath& math, const Expr& x) {
  return activated(math, x, [&](size_t n, double otherwise) {
    return float_attr(math.node(), n == 0 ? "activation_alpha" : "activation_beta", otherwise);
  });
}

void gelu(Importer& importer, const Node& node) {
  importer.emit(node, "relax.nn.gelu", {importer.value(node, 0)});
}

void bias_gelu(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  importer.emit(node, "relax.nn.gelu", {math.add(math.input(0), math.input(1))});
}

void fast_gelu(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  importer.emit(node, "relax.nn.gelu_tanh", {math.plus(math.input(0), math.input(1))});
}

void quick_gelu(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const Expr x = math.input(0);
  const Expr gate = math.call("relax.sigmoid", {math.scaled(x, float_attr(node, "alpha", 1.702))});
  math.result(0, math.multiply(x, gate));
}

// ---- products

// `x` with its last two dimensions swapped; with is_batch the first one stands before the last.
Expr operand(const NodeMath& math, Expr x, bool is_transposed, bool is_batch) {
  const size_t ndim = math.shape(x).size();
  if (is_batch && ndim > 2) {
    std::vector<int64_t> axes;
    for (size_t n = 1; n + 1 < ndim; ++n) axes.push_back(static_cast<int64_t>(n));
    axes.push_back(0);
    axes.push_back(static_cast<int64_t>(ndim) - 1);
    x = math.permuted(x, axes);
  }
  return is_transposed && ndim > 1 ? math.transposed(x) : x;
}

void fused_matmul(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const auto has = [&](std::string_view name) { return int_attr(node, name, 0) != 0; };
  const Expr a = operand(math, math.input(0), has("transA"), has("transBatchA")),
             b = operand(math, math.input(1), has("transB"), has("transBatchB"));
  const DataType dtype = relax::dtype_of(a);
  const double alpha = float_attr(node, "alpha", 1);
  const Expr product = math.matmul(a, b, alpha == 1 ? dtype : topi::dtype_of_sums(dtype));
  math.result(0, activated_by_name(math, math.cast(math.scaled(product, alpha), dtype)));
}

void fused_gemm(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  Node product = node;
  product.outputs = {node.outputs.at(0) + " (before its activation)"};
  find_converter("Gemm", importer.opset)->convert(importer, product);
  Node result = node;
  result.inputs = product.outputs;
  math.result(0, activated_by_name(math, importer.value(result, 0)));
}

// ---- convolutions and pools

std::vector<int64_t> channels_to(size_t ndim, bool is_last) {
  std::vector<int64_t> axes{0};
  for (size_t n = 1; n + 1 < ndim; ++n) axes.push_back(static_cast<int64_t>(is_last ? n + 1 : n));
  if (is_last)
    axes.push_back(1);
  else
    axes.insert(axes.begin() + 1, static_cast<int64_t>(ndim) - 1);
  return axes;
}
Expr channels_first(const NodeMath& math, const Expr& x) {
  return math.permuted(x, channels_to(math.shape(x).size(), false));
}
Expr channels_last(const NodeMath& math, const Expr& x) {
  return math.permuted(x, channels_to(math.shape(x).size(), true));
}

// activation(convolution + bias + input 3)
Expr convolved(const NodeMath& math, const Expr& x, const Expr& rest) {
  const Expr sums = convolution(math.importer(), math.node(), x, math.input(1));
  const Expr y = with_channels(math.importer(), math.node(), sums, math.input(2));
  return activated_by_list(math, math.plus(y, rest));
}

void fused_conv(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  math.result(0, convolved(math, math.input(0), math.input(3)));
}

void conv_of_channels_last(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const Expr rest = math.input(3);
  const Expr y =
      convolved(math, channels_first(math, math.input(0)), rest ? channels_first(math, rest) : rest);
  math.result(0, channels_last(math, y));
}

void max_pool_of_channels_last(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  Node pool = node;
  pool.inputs = {node.outputs.at(0) + " (channels first)"};
  pool.outputs = {node.outputs.at(0) + " (of channels first)"};
  importer.define(pool.inputs[0], channels_first(math, math.input(0)));
  find_converter("MaxPool", importer.opset)->convert(importer, pool);
  Node result = node;
  result.inputs = pool.outputs;
  math.result(0, channels_last(math, importer.value(result, 0)));
}

constexpr AttributeRule kAlpha[] = {{"alpha", Attribute::kFloat}};
constexpr AttributeRule kActivation = {"activation", Attribute::kString},
                        kActivationAlpha = {"activation_alpha", Attribute::kFloat},
                        kActivationBeta = {"activation_beta", Attribute::kFloat},
                        kActivationGamma = {"activation_gamma", Attribute::kFloat},
                        kActivationAxis = {"activation_axis", Attribute::kInt};
constexpr AttributeRule kMatMul[] = {{"alpha", Attribute::kFloat},
                                     flag("transA"),
                                     flag("transB"),
                                     flag("transBatchA"),
                                     flag("transBatchB"),
                                     kActivation,
                                     kActivationAlpha,
                                     kActivationBeta,
                                     kActivationGamma,
                                     kActivationAxis};
constexpr AttributeRule kGemm[] = {{"alpha", Attribute::kFloat},
                                   {"beta", Attribute::kFloat},
                                   flag("transA"),
                                   flag("transB"),
                                   kActivation,
                                   kActivationAlpha,
                                   kActivationBeta,
                                   kActivationGamma};
constexpr AttributeRule kFusedConv[] = {kActivation,
                                        {"activation_params", Attribute::kFloats},
                                        kAutoPad,
                                        extents("dilations", 1),
                                        {"group", Attribute::kInt, 1, kMostExtent},
                                        extents("kernel_shape", 1),
                                        extents("pads", 0),
                                        extents("strides", 1)};
constexpr AttributeRule kMaxPool[] = {
    kAutoPad,           flag("ceil_mode"),    extents("dilations", 1), extents("kernel_shape", 1),
    extents("pads", 0), extents("strides", 1)};

constexpr ConverterRow kRows[] = {
    {"com.microsoft::BiasGelu", bias_gelu, 2, 2},
    {"com.microsoft::FastGelu", fast_gelu, 1, 2},
    {"com.microsoft::FusedConv", fused_conv, 2, 4, kFusedConv},
    {"com.microsoft::FusedGemm", fused_gemm, 2, 3, kGemm},
    {"com.microsoft::FusedMatMul", fused_matmul, 2, 2, kMatMul},
    {"com.microsoft::FusedMatMulActivation", fused_matmul, 2, 2, kMatMul},
    {"com.microsoft::Gelu", gelu, 1, 1},
    {"com.microsoft::NhwcConv", conv_of_channels_last, 2, 3, kConv},
    {"com.microsoft::NhwcFusedConv", conv_of_channels_last, 2, 4, kFusedConv},
    {"com.microsoft::NhwcMaxPool", max_pool_of_channels_last, 1, 1, kMaxPool},
    {"com.microsoft::QuickGelu", quick_gelu, 1, 1, kAlpha},
    {"com.microsoft::TransposeMatMul", fused_matmul, 2, 2, kMatMul},
};

}  // namespace

extern constinit const ConverterTable contrib_fused_info = {kRows};

}  // namespace tilewright::frontend::onnx
