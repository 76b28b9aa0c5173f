// Normalisations that onnxruntime's optimizer joins with the sums before them.
// Source: github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include <functional>

#include "tilewright/frontend/onnx/graphs/node_math.h"

namespace tilewright::frontend::onnx {
namespace {

// Of the last dimension; `beta` may be null.
Expr layer_norm(const NodeMath& math, const Expr& x, const Expr& gamma, const Expr& beta, double epsilon) {
  const Expr bias = beta ? beta : math.call("relax.zeros_like", {gamma});
  return math.call("relax.nn.layer_norm", {x, gamma, bias},
                   {{"axes", attr(std::vector<int64_t>{-1})}, {"epsilon", attr(epsilon)}});
}
Expr rms_norm(const NodeMath& math, const Expr& x, const Expr& gamma, double epsilon) {
  return math.call("relax.nn.rms_norm", {x, gamma},
                   {{"axes", attr(std::vector<int64_t>{-1})}, {"epsilon", attr(epsilon)}});
}

// Outputs 1 and 2, if they are wanted: the mean, and 1 / sqrt(`moment` + epsilon).
void define_statistics(const NodeMath& math, const Expr& x, std::string_view moment, double epsilon) {
  if (!math.wants(1) && !math.wants(2)) return;
  const Expr wide = widened(math.importer(), x);
  math.result(1, math.reduced("relax.mean", wide, {-1}));
  const Expr spread = moment.empty() ? math.reduced("relax.mean", math.multiply(wide, wide), {-1})
                                     : math.reduced(moment, wide, {-1});
  math.result(2, math.call("relax.rsqrt", {math.add(spread, math.number_like(spread, epsilon))}));
}

// x + skip, whose extents are those of x, or 1.
Expr with_skip(const NodeMath& math) {
  const Expr x = math.input(0), skip = math.input(1);
  const relax::Shape shape = math.shape(x), given = math.shape(skip);
  math.importer().require(math.node(), relax::broadcasts_to(given, shape),
                          "skip is {}, which does not broadcast to {}", given, shape);
  return math.add(x, skip);
}

void skip_layer_norm(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const Expr sum = math.plus(with_skip(math), math.input(4));
  const double epsilon = float_attr(node, "epsilon", 1e-12);
  math.result(0, layer_norm(math, sum, math.input(2), math.input(3), epsilon));
  define_statistics(math, sum, "relax.variance", epsilon);
  math.result(3, sum);
}

void skip_rms_norm(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const Expr sum = math.plus(with_skip(math), math.input(3));
  const double epsilon = float_attr(node, "epsilon", 1e-6);
  math.result(0, rms_norm(math, sum, math.input(2), epsilon));
  define_statistics(math, sum, "", epsilon);
  math.result(3, sum);
}

// RMSNormalization under its older name.
void simplified_layer_norm(Importer& importer, const Node& node) {
  find_converter("RMSNormalization", importer.opset)->convert(importer, node);
}

// Rows of `table` at `ids`; an id that is not in it is refused when the graph runs.
Expr embedding(const NodeMath& math, const Expr& table, const Expr& ids, std::string_view name) {
  math.require_ndim(table, 2, name);
  const Expr checked = math.call(
      "relax.require_range",
      {ids, scalar_value(relax::extent_imm(0)),
       scalar_value(math.importer().facts.simplify(tir::operator-(math.shape(table)[0], int64_t{1}))),
       relax::StringValueNode::make(fmt::format("{}: {}", math.node().shown(), name))});
  return math.call("relax.take", {table, checked}, {{"axis", attr(int64_t{0})}, {"mode", attr("clip")}});
}

// What is made real numbers of table `n`, or of rows of it: 0 words, 1 positions, 2 segments, 3 gamma, 4 beta.
using Real = std::function<Expr(size_t n, const Expr& rows)>;

// Embeddings of words, positions and segments, summed and normalized.  The tables are the inputs from 2 on.
void embed(const NodeMath& math, const Expr& positions, const Real& real) {
  const Expr ids = math.input(0), segments = math.input(1);
  math.require_ndim(ids, 2, "input_ids");
  const relax::Shape shape = math.shape(ids);
  constexpr std::string_view kNames[] = {"word_embedding", "position_embedding", "segment_embedding", "gamma",
                                         "beta"};
  const auto table = [&](size_t n) { return math.required(2 + n, kNames[n]); };
  const auto rows = [&](size_t n, const Expr& at) {
    return real(n, embedding(math, table(n), at, kNames[n]));
  };
  Expr sum =
      math.add(rows(0, ids), positions ? rows(1, positions) : real(1, math.first(table(1), 0, shape[1])));
  if (segments && math.input(4)) sum = math.add(sum, rows(2, segments));
  math.result(2, sum);
  math.result(0, layer_norm(math, sum, real(3, table(3)), real(4, table(4)),
                            float_attr(math.node(), "epsilon", 1e-12)));
  if (!math.wants(1)) return;
  const Expr mask = math.input(7);
  if (!mask)
    return math.result(1, math.call("relax.full", {relax::shape_expr({shape[0]}), number(0, kInt32)}));
  const Expr counts = math.cast(math.call("relax.equal", {mask, math.number_like(mask, 1)}), kInt32);
  math.result(1, math.call("relax.sum", {counts}, {{"axis", attr(std::vector<int64_t>{1})}}));
}

void embed_layer_norm(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  embed(math, math.input(8), [](size_t, const Expr& rows) { return rows; });
}

// The tables are integers with a scale (inputs from 8 on) and a zero point (from 13 on) each.
void quantized_embed_layer_norm(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  embed(math, nullptr, [&](size_t n, const Expr& rows) {
    return math.call("relax.dequantize",
                     {rows, math.required(8 + n, "a scale"), math.required(13 + n, "a zero point")},
                     {{"axis", attr(int64_t{0})}, {"out_dtype", attr("float32")}});
  });
}

constexpr AttributeRule kEpsilon[] = {{"epsilon", Attribute::kFloat, 0}};
constexpr AttributeRule kEmbed[] = {{"epsilon", Attribute::kFloat, 0}, flag("mask_index_type")};
constexpr AttributeRule kSimplified[] = {
    {"axis", Attribute::kInt}, {"epsilon", Attribute::kFloat, 0}, {"stash_type", Attribute::kInt}};

constexpr ConverterRow kRows[] = {
    {"SimplifiedLayerNormalization", simplified_layer_norm, 2, 2, kSimplified, 2},
    {"com.microsoft::EmbedLayerNormalization", embed_layer_norm, 1, 9, kEmbed, 3, kFirstOpset, kLastOpset, 3},
    {"com.microsoft::QEmbedLayerNormalization", quantized_embed_layer_norm, 1, 18, kEpsilon, 2, kFirstOpset,
     kLastOpset, 2},
    {"com.microsoft::SkipLayerNormalization", skip_layer_norm, 3, 5, kEpsilon, 4, kFirstOpset, kLastOpset, 4},
    {"com.microsoft::SkipSimplifiedLayerNormalization", skip_rms_norm, 3, 4, kEpsilon, 4, kFirstOpset,
     kLastOpset, 4},
};

}  // namespace

extern constinit const ConverterTable contrib_norm_info = {kRows};

}  // namespace tilewright::frontend::onnx
