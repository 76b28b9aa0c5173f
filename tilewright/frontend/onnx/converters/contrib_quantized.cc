// Operators of quantized tensors of the domain com.microsoft: computed on real numbers between scales, which fusion
// joins, and in integers where they are products.
// Source: github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include <numeric>

#include "tilewright/frontend/onnx/converters/attributes.h"
#include "tilewright/frontend/onnx/graphs/node_math.h"

namespace tilewright::frontend::onnx {
namespace {

// Inputs `first` to first + 2, values, scale and zero point, as real numbers; one scale, or one for each index of
// dimension `axis`.
Expr real(const NodeMath& math, size_t first, int64_t axis = 0) {
  const Expr x = math.input(first), scale = math.required(first + 1, "a scale");
  if (!relax::dtype_of(x).is_integral()) return x;  // parts of QLinearConcat may be real already
  Expr zero = math.input(first + 2);
  if (!zero) zero = math.importer().bound(math.number_like(x, 0));
  const bool is_one = math.shape(scale).empty() || tir::is_one(math.shape(scale)[0]);
  return math.call("relax.dequantize", {x, scale, zero},
                   {{"axis", attr(is_one ? int64_t{0} : axis)}, {"out_dtype", attr("float32")}});
}

// `x` by the scale in input `scale` and the zero point after it; without a zero point in the dtype of input 0.
Expr quantized(const NodeMath& math, const Expr& x, size_t scale) {
  const Expr given = math.input(scale + 1);
  const Expr zero = given ? given : math.importer().bound(math.number_like(math.input(0), 0));
  return math.call("relax.quantize", {x, math.required(scale, "a scale"), zero},
                   {{"axis", attr(int64_t{0})}, {"out_dtype", attr(relax::dtype_of(zero).str())}});
}

template <const char* kOp>
void binary(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  math.result(0, quantized(math, math.call(kOp, {real(math, 0), real(math, 3)}), 6));
}
constexpr char kAdd[] = "relax.add", kMul[] = "relax.multiply";

void sigmoid(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  math.result(0, quantized(math, math.call("relax.sigmoid", {real(math, 0)}), 3));
}

void leaky_relu(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const Expr y =
      math.call("relax.nn.leakyrelu", {real(math, 0)}, {{"alpha", attr(float_attr(node, "alpha", 0.01))}});
  math.result(0, quantized(math, y, 3));
}

void softmax(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const Expr x = real(math, 0);
  const relax::Shape shape = math.shape(x);
  const bool is_whole = int_attr(node, "opset", 13) < 13;
  const int64_t axis = checked_axis(int_attr(node, "axis", is_whole ? 1 : -1), shape.size());
  const auto on = [&](const Expr& values, int64_t place) {
    return math.call("relax.nn.softmax", {values}, {{"axis", attr(place)}});
  };
  if (!is_whole) return math.result(0, quantized(math, on(x, axis), 3));
  const relax::Shape head(shape.begin(), shape.begin() + axis), tail(shape.begin() + axis, shape.end());
  const Expr flat = math.reshaped(x, {relax::num_elements(head), relax::num_elements(tail)});
  math.result(0, quantized(math, math.reshaped(on(flat, -1), shape), 3));
}

void where(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const Expr zero = math.required(8, "z_zero_point"), scale = math.input(7);
  math.result(
      0, math.call("relax.quantize", {math.where(math.input(0), real(math, 1), real(math, 4)), scale, zero},
                   {{"axis", attr(int64_t{0})}, {"out_dtype", attr(relax::dtype_of(zero).str())}}));
}

// Each part by the scale of the result, then concatenated.
void concat(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  if (node.inputs.size() % 3 != 2)
    throw UserError("{} inputs, expected 2 and 3 for each part", node.inputs.size());
  const Expr scale = math.input(0), zero = math.input(1);
  std::vector<Expr> parts;
  for (size_t n = 2; n < node.inputs.size(); n += 3)
    parts.push_back(
        math.call("relax.quantize", {real(math, n), scale, zero},
                  {{"axis", attr(int64_t{0})}, {"out_dtype", attr(relax::dtype_of(zero).str())}}));
  math.result(0, math.concat(parts, int_attr(node, "axis", 0)));
}

void reduce_mean(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const Expr x = real(math, 0);
  std::vector<int64_t> axes = ints_attr(node, "axes", {});
  if (axes.empty()) {
    axes.resize(math.shape(x).size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  const Expr mean = math.call("relax.mean", {x},
                              {{"axis", attr(axes)}, {"keepdims", attr(int_attr(node, "keepdims", 1) != 0)}});
  math.result(0, quantized(math, mean, 3));
}

// ---- pools and convolutions

// With channels_last the input is [n, spatial .., c].
Expr channels_moved(const NodeMath& math, const Expr& x, bool to_last) {
  if (int_attr(math.node(), "channels_last", 0) == 0) return x;
  const auto ndim = static_cast<int64_t>(math.shape(x).size());
  std::vector<int64_t> axes{0};
  for (int64_t n = 1; n + 1 < ndim; ++n) axes.push_back(to_last ? n + 1 : n);
  axes.insert(to_last ? axes.end() : axes.begin() + 1, to_last ? 1 : ndim - 1);
  return math.permuted(x, axes);
}

// The result of the operator `op` of ai.onnx with the attributes and the other inputs of this node on `x`.
Expr of_operator(const NodeMath& math, std::string_view op, const Expr& x) {
  Node inner = math.node();
  std::erase_if(inner.attributes, [](const Attribute& each) { return each.name == "channels_last"; });
  const std::string& name = math.node().outputs.at(0);
  inner.inputs[0] = name + " (input)", inner.outputs = {name + " (channels first)"};
  math.importer().define(inner.inputs[0], x);
  find_converter(op, math.importer().opset)->convert(math.importer(), inner);
  inner.inputs = inner.outputs;
  return math.importer().value(inner, 0);
}

template <const char* kOp>
void pool(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const Expr y = of_operator(math, kOp, channels_moved(math, real(math, 0), false));
  math.result(0, channels_moved(math, quantized(math, y, 3), true));
}
constexpr char kAveragePool[] = "AveragePool", kGlobalAveragePool[] = "GlobalAveragePool";

void conv(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const Expr y = of_operator(math, "QLinearConv", channels_moved(math, math.input(0), false));
  math.result(0, channels_moved(math, y, true));
}

// ---- products

// alpha * (A * B + C) of quantized A and B, where C has the scale of the product
void gemm(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const bool is_transposed = int_attr(node, "transB", 0) != 0;
  Expr a = real(math, 0), b = real(math, 3, is_transposed ? 0 : 1);
  if (int_attr(node, "transA", 0)) a = math.transposed(a);
  if (is_transposed) b = math.transposed(b);
  Expr y = math.matmul(a, b, kFloat32);
  if (const Expr c = math.input(6)) {
    const Expr scale = math.multiply(math.input(1), math.input(4));
    y = math.add(y, math.multiply(math.cast(c, kFloat32), scale));
  }
  y = math.scaled(y, float_attr(node, "alpha", 1));
  math.result(0, math.input(7) ? quantized(math, y, 7) : y);
}

// The product of the integers in `inputs`: A, B and their zero points.
Expr integer_product(const NodeMath& math, std::vector<std::string> inputs) {
  Node product = math.node();
  product.attributes.clear();
  product.inputs = std::move(inputs), product.outputs = {math.node().outputs.at(0) + " (integers)"};
  find_converter("MatMulInteger", math.importer().opset)->convert(math.importer(), product);
  product.inputs = product.outputs;
  return math.cast(math.importer().value(product, 0), kFloat32);
}
std::string name_of(const Node& node, size_t input) {
  return input < node.inputs.size() ? node.inputs[input] : std::string();
}

void matmul_integer_to_float(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const Expr product =
      integer_product(math, {node.inputs[0], node.inputs[1], name_of(node, 4), name_of(node, 5)});
  const Expr y = math.multiply(product, math.multiply(math.input(2), math.input(3)));
  math.result(0, math.plus(y, math.input(6)));
}

// A is quantized to uint8 first, by its own range.
void dynamic_quantize_matmul(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  Node first = node;
  const std::string name = node.outputs.at(0);
  first.inputs = {node.inputs[0]};
  first.outputs = {name + " (A)", name + " (scale of A)", name + " (zero point of A)"};
  find_converter("DynamicQuantizeLinear", importer.opset)->convert(importer, first);
  const Expr product =
      integer_product(math, {first.outputs[0], node.inputs[1], first.outputs[2], name_of(node, 3)});
  Node scale = node;
  scale.inputs = {first.outputs[1]};
  const Expr y = math.multiply(product, math.multiply(importer.value(scale, 0), math.input(2)));
  math.result(0, math.plus(y, math.input(4)));
}

constexpr AttributeRule kAlpha[] = {{"alpha", Attribute::kFloat}};
constexpr AttributeRule kSoftmax[] = {{"axis", Attribute::kInt}, {"opset", Attribute::kInt}};
constexpr AttributeRule kGemm[] = {{"alpha", Attribute::kFloat}, flag("transA"), flag("transB")};
constexpr AttributeRule kReduce[] = {{"axes", Attribute::kInts}, flag("keepdims")};
constexpr AttributeRule kGlobalPool[] = {flag("channels_last")};
constexpr AttributeRule kQLinearConv[] = {kAutoPad,
                                          flag("channels_last"),
                                          extents("dilations", 1),
                                          {"group", Attribute::kInt, 1, kMostExtent},
                                          extents("kernel_shape", 1),
                                          extents("pads", 0),
                                          extents("strides", 1)};
constexpr AttributeRule kPool[] = {kAutoPad,
                                   flag("ceil_mode"),
                                   flag("channels_last"),
                                   flag("count_include_pad"),
                                   extents("kernel_shape", 1),
                                   extents("pads", 0),
                                   extents("strides", 1)};

constexpr ConverterRow kRows[] = {
    {"com.microsoft::DynamicQuantizeMatMul", dynamic_quantize_matmul, 3, 5},
    {"com.microsoft::MatMulIntegerToFloat", matmul_integer_to_float, 4, 7},
    {"com.microsoft::QGemm", gemm, 6, 9, kGemm},
    {"com.microsoft::QLinearAdd", binary<kAdd>, 2, 8},
    {"com.microsoft::QLinearAveragePool", pool<kAveragePool>, 2, 5, kPool},
    {"com.microsoft::QLinearConcat", concat, 5, kAnyNumber, kAxis},
    {"com.microsoft::QLinearConv", conv, 8, 9, kQLinearConv},
    {"com.microsoft::QLinearGlobalAveragePool", pool<kGlobalAveragePool>, 5, 5, kGlobalPool},
    {"com.microsoft::QLinearLeakyRelu", leaky_relu, 2, 5, kAlpha},
    {"com.microsoft::QLinearMul", binary<kMul>, 2, 8},
    {"com.microsoft::QLinearReduceMean", reduce_mean, 2, 5, kReduce},
    {"com.microsoft::QLinearSigmoid", sigmoid, 2, 5},
    {"com.microsoft::QLinearSoftmax", softmax, 2, 5, kSoftmax},
    {"com.microsoft::QLinearWhere", where, 9, 9},
};

}  // namespace

extern constinit const ConverterTable contrib_quantized_info = {kRows};

}  // namespace tilewright::frontend::onnx
