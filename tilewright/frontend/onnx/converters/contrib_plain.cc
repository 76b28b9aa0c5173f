// Operators of com.microsoft that others of ai.onnx are made of, or a few graph operators.
// Source: github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include "tilewright/frontend/onnx/converters/attributes.h"
#include "tilewright/frontend/onnx/graphs/node_math.h"

namespace tilewright::frontend::onnx {
namespace {

// ---- moves and sets

void range(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const Expr start = math.input(0), step = math.input(2);
  const auto as_scalar = [&](const Expr& x) { return math.reshaped(x, {}); };
  math.result(
      0, math.as_operator("Range", {as_scalar(start), as_scalar(math.input(1)),
                                    step ? as_scalar(step) : importer.bound(math.number_like(start, 1))})[0]);
}

void expand_dims(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  math.result(0, math.with_axes(math.input(0), importer.require_ints(node, 1)));
}

void embedding(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  math.result(0, math.as_operator("Gather", {math.input(0), math.input(1)}, {int_attribute("axis", 0)})[0]);
}

// Values in the order in which they first occur.
void unique(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const Expr x = math.input(0);
  math.require_ndim(x, 1, "x");
  const std::vector<Expr> all = math.as_operator("Unique", {x}, {int_attribute("sorted", 0)}, 4);
  math.result(0, all[0]);
  math.result(1, all[2]);
  math.result(2, all[3]);
}

void grid_sample(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const std::string mode = string_attr(node, "mode", "bilinear");
  require_known_text("mode", mode, {"bilinear", "nearest", "bicubic"});
  math.result(0, math.as_operator("GridSample", {math.input(0), math.input(1)},
                                  {text_attribute("mode", mode == "bilinear"  ? "linear"
                                                          : mode == "bicubic" ? "cubic"
                                                                              : "nearest"),
                                   text_attribute("padding_mode", string_attr(node, "padding_mode", "zeros")),
                                   int_attribute("align_corners", int_attr(node, "align_corners", 0))})[0]);
}

void inverse(Importer& importer, const Node& node) {
  importer.emit(node, "relax.inverse", {importer.value(node, 0)});
}

// ---- sums and activations

// softmax(data + bias) over all dimensions from `axis` on
void bias_softmax(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const Expr sum = math.add(math.input(0), math.input(1));
  const relax::Shape shape = math.shape(sum);
  const int64_t axis = checked_axis(int_attr(node, "axis", 1), shape.size());
  const relax::Shape head(shape.begin(), shape.begin() + axis), tail(shape.begin() + axis, shape.end());
  const Expr rows = math.reshaped(sum, {relax::num_elements(head), relax::num_elements(tail)});
  math.result(0, math.reshaped(math.call("relax.nn.softmax", {rows}, {{"axis", attr(int64_t{-1})}}), shape));
}

// data + bias + residual, as it is without training
void bias_dropout(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  if (importer.has_input(node, 4)) {
    const std::vector<ir::PrimExpr> trains = literals(importer, node, 4);
    if (trains.size() != 1 || !tir::is_zero(trains[0]))
      throw Unsupported("training_mode is true, only inference is supported");
  }
  const Expr sum = math.plus(math.add(math.input(0), math.input(1)), math.input(2));
  math.result(0, sum);
  if (math.wants(1))
    math.result(1, math.call("relax.full", {relax::shape_expr(math.shape(sum)), number(1, kBoolType)}));
}

void matmul_fast_gelu(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const Expr x = math.input(0);
  const Expr sum = math.plus(math.matmul(x, math.input(1), relax::dtype_of(x)), math.input(2));
  math.result(0, math.call("relax.nn.gelu_tanh", {sum}));
}

void scaled_silu(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const Expr x = math.input(0), scale = math.input(1);
  const Expr wide = widened(importer, x);
  const Expr z = scale ? math.multiply(wide, math.cast(math.reshaped(scale, {}), relax::dtype_of(wide)))
                       : math.scaled(wide, float_attr(node, "alpha", 1));
  math.result(0, math.cast(math.call("relax.nn.silu", {z}), relax::dtype_of(x)));
}

// ---- integers

void matmul_of_shorts(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const Expr a = math.input(0), b = math.input(1);
  const bool is_unsigned = relax::dtype_of(a).is_uint() && relax::dtype_of(b).is_uint();
  const DataType dtype = is_unsigned ? DataType::uint(32) : kInt32;
  math.result(0, math.matmul(math.cast(a, dtype), math.cast(b, dtype), dtype));
}

// (A - its zero point) * (B - its zero point)
void multiply_integers(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const auto number_of = [&](size_t value, size_t zero) {
    const Expr x = math.cast(math.required(value, value == 0 ? "A" : "B"), kInt32), point = math.input(zero);
    return point ? math.subtract(x, math.cast(point, kInt32)) : x;
  };
  math.result(0, math.multiply(number_of(0, 1), number_of(2, 3)));
}

void sum_integers(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const Expr x = math.input(0);
  const DataType dtype = relax::dtype_of(x).is_uint() ? DataType::uint(32) : kInt32;
  math.result(0, math.call("relax.sum", {math.cast(x, dtype)},
                           {{"axis", attr(ints_attr(node, "axes", {}))},
                            {"keepdims", attr(int_attr(node, "keepdims", 1) != 0)}}));
}

// ---- distances and complex numbers

// The distance of each row of A [m, n] to each of B [k, n].
void distances(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const std::string metric = string_attr(node, "metric", "sqeuclidean");
  if (metric != "sqeuclidean" && metric != "euclidean")
    throw Unsupported("attribute \"metric\" is \"{}\", supported are \"sqeuclidean\" and \"euclidean\"",
                      metric);
  const Expr a = math.input(0), b = math.input(1);
  math.require_ndim(a, 2, "A");
  math.require_ndim(b, 2, "B");
  const Expr apart = math.subtract(math.with_axes(a, {1}), math.with_axes(b, {0}));
  const Expr sums =
      math.call("relax.sum", {math.multiply(apart, apart)}, {{"axis", attr(std::vector<int64_t>{2})}});
  math.result(0, metric == "euclidean" ? math.call("relax.sqrt", {sums}) : sums);
}

// The product of complex numbers, pairs in the last dimension; of the conjugate of B if `kConjugate`.
template <bool kConjugate>
void complex_product(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const Expr a = math.input(0), b = math.input(1);
  const auto part = [&](const Expr& x, std::string_view name, int64_t n) {
    const relax::Shape& shape = math.shape(x);
    if (shape.empty() || relax::equal_extents(shape.back(), relax::extent_imm(2)) != relax::Answer::kYes)
      throw UserError("{} is {}, expected pairs in the last dimension", name, relax::shape_text(shape));
    return math.sliced(x, -1, relax::extent_imm(n), relax::extent_imm(n + 1));
  };
  const Expr ar = part(a, "A", 0), ai = part(a, "A", 1), br = part(b, "B", 0), bi = part(b, "B", 1);
  const Expr same = math.multiply(ar, br), turned = math.multiply(ai, bi), one = math.multiply(ai, br),
             other = math.multiply(ar, bi);
  math.result(0, math.concat({kConjugate ? math.add(same, turned) : math.subtract(same, turned),
                              kConjugate ? math.subtract(one, other) : math.add(one, other)},
                             -1));
}

constexpr AttributeRule kBiasSoftmax[] = {{"axis", Attribute::kInt}, flag("is_inner_broadcast")};
constexpr AttributeRule kBiasDropout[] = {{"seed", Attribute::kInt}};
constexpr AttributeRule kAlpha[] = {{"alpha", Attribute::kFloat}};
constexpr AttributeRule kDistances[] = {{"metric", Attribute::kString}};
constexpr AttributeRule kReduce[] = {
    {"axes", Attribute::kInts, kAnyLeast, kAnyMost, kFirstOpset, kLastOpset, true},
    {"keepdims", Attribute::kInt, 0, 1, kFirstOpset, kLastOpset, true}};
constexpr AttributeRule kGridSample[] = {
    flag("align_corners"), {"mode", Attribute::kString}, {"padding_mode", Attribute::kString}};

constexpr ConverterRow kRows[] = {
    {"com.microsoft::BiasDropout", bias_dropout, 2, 5, kBiasDropout, 2, kFirstOpset, kLastOpset, 2},
    {"com.microsoft::BiasSoftmax", bias_softmax, 2, 2, kBiasSoftmax},
    {"com.microsoft::CDist", distances, 2, 2, kDistances},
    {"com.microsoft::ComplexMul", complex_product<false>, 2, 2},
    {"com.microsoft::ComplexMulConj", complex_product<true>, 2, 2},
    {"com.microsoft::ExpandDims", expand_dims, 2, 2},
    {"com.microsoft::GemmFastGelu", matmul_fast_gelu, 2, 3},
    {"com.microsoft::GridSample", grid_sample, 2, 2, kGridSample},
    {"com.microsoft::Inverse", inverse, 1, 1},
    {"com.microsoft::MatMulInteger16", matmul_of_shorts, 2, 2},
    {"com.microsoft::MulInteger", multiply_integers, 1, 4},
    {"com.microsoft::Range", range, 2, 3},
    {"com.microsoft::ReduceSumInteger", sum_integers, 1, 1, kReduce},
    {"com.microsoft::ScaledSiLU", scaled_silu, 1, 2, kAlpha},
    {"com.microsoft::TorchEmbedding", embedding, 2, 4},
    {"com.microsoft::Unique", unique, 1, 1, {}, 3, kFirstOpset, kLastOpset, 3},
};

}  // namespace

extern constinit const ConverterTable contrib_plain_info = {kRows};

}  // namespace tilewright::frontend::onnx
