// Operators of com.microsoft on pictures: those that onnxruntime makes of diffusion models, and crops.
// Source: github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include <cmath>

#include "tilewright/frontend/onnx/converters/attributes.h"
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
std::vector<int64_t> axes_of_pixels(const Node& node) {
  return has_channels_last(node) ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{2, 3};
}

// The norm of groups of channels of `x`, after it the activation.
Expr group_norm(const NodeMath& math, const Expr& x) {
  const Node& node = math.node();
  const DataType dtype = relax::dtype_of(x);
  math.require_ndim(x, 4, "X");
  const Expr wide = widened(math.importer(), x);
  const DataType sums = relax::dtype_of(wide);
  Expr y =
      math.call("relax.nn.group_norm", {wide, math.cast(math.input(1), sums), math.cast(math.input(2), sums)},
                {{"num_groups", attr(int_attr(node, "groups", 1))},
                 {"channel_axis", attr(int64_t{has_channels_last(node) ? 3 : 1})},
                 {"axes", attr(axes_of_pixels(node))},
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
  if (shape.size() == 2) return math.with_axes(x, axes_of_pixels(math.node()));
  return shape.size() == 1 && !has_channels_last(math.node()) ? math.with_axes(x, {1, 2}) : x;
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

// ---- crops

/// One dimension of crops: coordinates in the picture, and the same from -1 to 1.
struct Coordinates {
  Expr places, relative;  // [boxes, size]
};

// From `first` to `last`, [boxes, 1], relative to the picture; one element lies in the middle.
Coordinates along(const NodeMath& math, const Expr& first, const Expr& last, const ir::PrimExpr& extent,
                  int64_t size) {
  const DataType dtype = relax::dtype_of(first);
  const Expr reach =
      math.cast(math.extent(math.importer().facts.simplify(tir::operator-(extent, int64_t{1}))), dtype);
  const auto share = [&](double offset) {
    runtime::Tensor steps = runtime::Tensor::empty(runtime::Shape{1, size}, kFloat64);
    for (int64_t n = 0; n < size; ++n)
      steps.data_as<double>()[n] =
          size == 1 ? 0.5 : std::abs(offset - static_cast<double>(n) / static_cast<double>(size - 1));
    return math.cast(relax::make_constant(steps), dtype);
  };
  const Expr place = math.add(math.multiply(first, share(1)), math.multiply(last, share(0)));
  const Expr two = math.number_like(first, 2), one = math.number_like(first, 1);
  return {math.multiply(place, reach), math.subtract(math.multiply(place, two), one)};
}

// Parts of pictures, brought to one size by linear interpolation; what lies outside has the extrapolation value.
void crop_and_resize(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  if (const std::string mode = string_attr(node, "mode", "bilinear"); mode != "bilinear")
    throw Unsupported("attribute \"mode\" is \"{}\", supported is \"bilinear\"", mode);
  const Expr x = math.input(0), boxes = math.input(1), images = math.input(2);
  math.require_ndim(x, 4, "X");
  math.require_ndim(boxes, 2, "rois");
  const std::vector<int64_t> size = importer.require_ints(node, 3);
  if (size.size() != 2 || size[0] < 1 || size[1] < 1)
    throw UserError("crop_size is not two positive numbers");
  const relax::Shape shape = math.shape(x);
  const ir::PrimExpr count = math.shape(boxes)[0], one = relax::extent_imm(1);
  const auto corner = [&](int64_t n) {
    return math.cast(math.sliced(boxes, 1, relax::extent_imm(n), relax::extent_imm(n + 1)),
                     relax::dtype_of(x));
  };
  const Coordinates rows = along(math, corner(0), corner(2), shape[2], size[0]),
                    columns = along(math, corner(1), corner(3), shape[3], size[1]);
  const Expr checked = math.call(
      "relax.require_range", {math.cast(images, kInt64), scalar_value(relax::extent_imm(0)),
                              scalar_value(importer.facts.simplify(tir::operator-(shape[0], int64_t{1}))),
                              relax::StringValueNode::make(fmt::format("{}: batch_indices", node.shown()))});
  const Expr own =
      math.call("relax.take", {x, checked}, {{"axis", attr(int64_t{0})}, {"mode", attr("clip")}});
  const relax::Shape whole{count, relax::extent_imm(size[0]), relax::extent_imm(size[1]), one};
  const Expr wide_rows = math.broadcast(math.with_axes(rows.relative, {2, 3}), whole),
             wide_columns = math.broadcast(math.with_axes(columns.relative, {1, 3}), whole);
  const Expr found =
      math.as_operator("GridSample", {own, math.concat({wide_columns, wide_rows}, 3)},
                       {text_attribute("mode", "linear"), text_attribute("padding_mode", "border"),
                        int_attribute("align_corners", 1)})[0];
  const auto inside = [&](const Expr& places, const ir::PrimExpr& extent) {
    const Expr last = math.cast(math.extent(importer.facts.simplify(tir::operator-(extent, int64_t{1}))),
                                relax::dtype_of(places));
    return math.both(math.call("relax.greater_equal", {places, math.number_like(places, 0)}),
                     math.call("relax.less_equal", {places, last}));
  };
  const Expr is_inside = math.both(math.with_axes(inside(rows.places, shape[2]), {1, 3}),
                                   math.with_axes(inside(columns.places, shape[3]), {1, 2}));
  math.result(
      0, math.where(is_inside, found, math.number_like(found, float_attr(node, "extrapolation_value", 0))));
}

// ConvTranspose whose pads are an input.
void conv_transpose(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  std::vector<Attribute> attributes = node.attributes;
  if (importer.has_input(node, 2))
    attributes.push_back(ints_attribute("pads", importer.require_ints(node, 2)));
  math.result(0, math.as_operator("ConvTranspose", {math.input(0), math.input(1), math.input(3)},
                                  std::move(attributes))[0]);
}

constexpr AttributeRule kCrop[] = {{"extrapolation_value", Attribute::kFloat}, {"mode", Attribute::kString}};
constexpr AttributeRule kConvTranspose[] = {kAutoPad,
                                            extents("dilations", 1),
                                            {"group", Attribute::kInt, 1, kMostExtent},
                                            extents("kernel_shape", 1),
                                            extents("output_padding", 0),
                                            extents("strides", 1)};
constexpr AttributeRule kGroupNorm[] = {
    {"activation", Attribute::kInt, 0, 1, kFirstOpset, kLastOpset, true},
    flag("channels_last"),
    {"epsilon", Attribute::kFloat, 0},
    {"groups", Attribute::kInt, 1, kMostExtent, kFirstOpset, kLastOpset, true}};

constexpr ConverterRow kRows[] = {
    {"com.microsoft::BiasAdd", bias_add, 3, 3},
    {"com.microsoft::BiasSplitGelu", bias_split_gelu, 2, 2},
    {"com.microsoft::ConvTransposeWithDynamicPads", conv_transpose, 2, 4, kConvTranspose},
    {"com.microsoft::CropAndResize", crop_and_resize, 4, 4, kCrop},
    {"com.microsoft::GroupNorm", plain_group_norm, 3, 3, kGroupNorm},
    {"com.microsoft::SkipGroupNorm", skip_group_norm, 4, 5, kGroupNorm, 2, kFirstOpset, kLastOpset, 2},
};

}  // namespace

extern constinit const ConverterTable contrib_picture_info = {kRows};

}  // namespace tilewright::frontend::onnx
