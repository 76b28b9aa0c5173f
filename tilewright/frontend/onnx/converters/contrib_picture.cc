// Operators of com.microsoft that onnxruntime makes of diffusion models.
// Source: github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include "tilewright/frontend/onnx/graphs/node_math.h"
#include "tilewright/support/count_text.h"

namespace tilewright::frontend::onnx {
namespace {

void bias_add(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  math.result(0, math.add(math.add(math.input(0), math.input(1)), math.input(2)));
}

// The first half of the last dimension times the Gelu of the second.
void bias_split_gelu(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const Expr sum = math.add(math.input(0), math.input(1));
  const relax::Shape shape = math.shape(sum);
  if (shape.empty()) math.require_ndim(sum, 3, "X");
  math.require_equal(tir::floormod(relax::as_extent(shape.back()), int64_t{2}), relax::extent_imm(0),
                     "X is {}, whose last dimension has no halves", shape);
  const ir::PrimExpr half = quotient(importer, shape.back(), relax::extent_imm(2));
  const Expr left = math.first(sum, -1, half), right = math.sliced(sum, -1, half, shape.back());
  math.result(0, math.multiply(left, math.call("relax.nn.gelu", {right})));
}

bool has_channels_last(const Node& node) { return int_attr(node, "channels_last", 1) != 0; }

// The norm of groups of channels of `x`, after it the activation.
Expr group_norm(const NodeMath& math, const Expr& x) {
  const Node& node = math.node();
  const DataType dtype = relax::dtype_of(x);
  math.require_ndim(x, 4, "X");
  const bool is_last = has_channels_last(node);
  const std::vector<int64_t> axes = is_last ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{2, 3};
  const Expr wide = widened(math.importer(), x);
  const DataType sums = relax::dtype_of(wide);
  Expr y =
      math.call("relax.nn.group_norm", {wide, math.cast(math.input(1), sums), math.cast(math.input(2), sums)},
                {{"num_groups", attr(int_attr(node, "groups", 1))},
                 {"channel_axis", attr(int64_t{is_last ? 3 : 1})},
                 {"axes", attr(axes)},
                 {"epsilon", attr(float_attr(node, "epsilon", 1e-5))}});
  if (int_attr(node, "activation", 0) == 1) y = math.call("relax.nn.silu", {y});
  return math.cast(y, dtype);
}

void plain_group_norm(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  math.result(0, group_norm(math, math.input(0)));
}

// A value for each channel, or for each channel of each picture, as what is added to pictures.
Expr of_channels(const NodeMath& math, const Expr& x) {
  const relax::Shape shape = math.shape(x);
  const bool is_last = has_channels_last(math.node());
  if (shape.size() == 2)
    return math.with_axes(x, is_last ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{2, 3});
  return shape.size() == 1 && !is_last ? math.with_axes(x, {1, 2}) : x;
}

void skip_group_norm(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  const Expr x = math.input(0), skip = math.input(3), bias = math.input(4);
  if (const size_t ndim = math.shape(skip).size(); ndim != 2 && ndim != 4)
    throw UserError("skip has {}, expected 2 or 4", count_text(ndim, "dimension"));
  Expr sum = math.add(x, of_channels(math, skip));
  if (bias) sum = math.add(sum, of_channels(math, bias));
  math.result(1, sum);
  math.result(0, group_norm(math, sum));
}

constexpr AttributeRule kGroupNorm[] = {
    {"activation", Attribute::kInt, 0, 1, kFirstOpset, kLastOpset, true},
    flag("channels_last"),
    {"epsilon", Attribute::kFloat, 0},
    {"groups", Attribute::kInt, 1, kMostExtent, kFirstOpset, kLastOpset, true}};

constexpr ConverterRow kRows[] = {
    {"com.microsoft::BiasAdd", bias_add, 3, 3},
    {"com.microsoft::BiasSplitGelu", bias_split_gelu, 2, 2},
    {"com.microsoft::GroupNorm", plain_group_norm, 3, 3, kGroupNorm},
    {"com.microsoft::SkipGroupNorm", skip_group_norm, 4, 5, kGroupNorm, 2, kFirstOpset, kLastOpset, 2},
};

}  // namespace

extern constinit const ConverterTable contrib_picture_info = {kRows};

}  // namespace tilewright::frontend::onnx
