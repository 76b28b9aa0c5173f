// Operators of opset 1 to 6 that say in another way what later ones say, and those that existed only then.
// Source: onnx.ai/onnx/operators, and github.com/onnx/onnx at v1.2.1, docs/Operators.md (experimental ones).
#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "tilewright/frontend/onnx/converters/attributes.h"
#include "tilewright/frontend/onnx/import/convert.h"
#include "tilewright/frontend/onnx/read/wire.h"

namespace tilewright::frontend::onnx {
namespace {

constexpr int64_t kEarly = 6;         // the last opset of early forms
constexpr int64_t kExperimental = 9;  // the last opset with experimental operators

// Converts `node` as the operator of that name in opset 7.
void convert_later(Importer& importer, Node node) {
  constexpr int64_t kLater = 7;
  const int64_t around = std::exchange(importer.opset, kLater);
  node.opset = kLater;
  find_converter(node.op(), kLater)->convert(importer, node);
  importer.opset = around;
}

Attribute& attribute_of(Node& node, std::string_view name) {
  return *std::find_if(node.attributes.begin(), node.attributes.end(),
                       [&](const Attribute& each) { return each.name == name; });
}

void remove(Node& node, std::string_view name) {
  std::erase_if(node.attributes, [&](const Attribute& each) { return each.name == name; });
}

Attribute integers(std::string name, std::vector<int64_t> values) {
  Attribute result;
  result.name = std::move(name);
  result.kind = Attribute::kInts;
  result.integers = std::move(values);
  return result;
}

// Gives input `input` of `node` the value; no name in a file contains a control character (names.h).
void set_input(Importer& importer, Node& node, size_t input, const Expr& value) {
  const std::string name = "\x01" + node.outputs.at(0);
  importer.define(name, value);
  node.inputs.resize(std::max(node.inputs.size(), input + 1));
  node.inputs[input] = name;
}

void set_input(Importer& importer, Node& node, size_t input, const std::vector<int64_t>& values) {
  set_input(importer, node, input,
            relax::make_constant(runtime::Tensor::copy_of(values.data(), values.size() * sizeof(int64_t),
                                                          runtime::Shape{static_cast<int64_t>(values.size())},
                                                          kInt64)));
}

// `value` with dimensions of extent 1 after its own, which stand at `axis` of a tensor with `ndim` then.
Expr with_dims_after(Importer& importer, const Node& node, const Expr& value, int64_t axis, size_t ndim) {
  const auto own = static_cast<int64_t>(shape_of(node, value).size()), all = static_cast<int64_t>(ndim);
  if (axis < 0) axis += all;
  if (axis < 0 || axis + own > all)
    throw UserError("axis is {}, where {} dimensions of input 1 do not fit into {} of input 0", axis, own,
                    all);
  std::vector<int64_t> added;
  for (int64_t n = own; n < all - axis; ++n) added.push_back(n);
  return added.empty() ? value : importer.bind(node, "relax.expand_dims", {value}, {{"axis", attr(added)}});
}

// Without broadcast both shapes are the same; with axis, the dimensions of input 1 are those from axis on.
void with_axis(Importer& importer, const Node& node) {
  const Expr a = importer.value(node, 0), b = importer.value(node, 1);
  const relax::Shape &left = shape_of(node, a), &right = shape_of(node, b);
  Node later = node;
  if (!int_attr(node, "broadcast", 0)) {
    importer.require(node, relax::is_same_shape(left, right), "the inputs are {} and {}, and broadcast is 0",
                     left, right);
  } else if (node.find("axis")) {
    set_input(importer, later, 1, with_dims_after(importer, node, b, int_attr(node, "axis", 0), left.size()));
  }
  later.attributes.clear();
  convert_later(importer, std::move(later));
}

// A slope of one dimension has a number for each channel.
void prelu(Importer& importer, const Node& node) {
  const size_t ndim = shape_of(node, importer.value(node, 0)).size();
  const Expr slope = importer.value(node, 1);
  const relax::Shape& shape = shape_of(node, slope);
  Node later = node;
  if (shape.size() == 1 && !tir::is_one(shape[0]) && ndim > 1)
    set_input(importer, later, 1, with_dims_after(importer, node, slope, 1, ndim));
  convert_later(importer, std::move(later));
}

// Attribute is_test says what training_mode says later.
void batch_norm(Importer& importer, const Node& node) {
  Node later = node;
  Attribute mode;
  mode.name = "training_mode";
  mode.kind = Attribute::kInt;
  mode.integer = !int_attr(node, "is_test", 0);
  remove(later, "is_test");
  later.attributes.push_back(std::move(mode));
  convert_later(importer, std::move(later));
}

// For inference, passes its input on.
void dropout(Importer& importer, const Node& node) { importer.pass_on(node); }

// Drops attribute "broadcast", which later ones do without.
void gemm(Importer& importer, const Node& node) {
  Node later = node;
  remove(later, "broadcast");
  convert_later(importer, std::move(later));
}

// The dtype has a name, "FLOAT".
void cast(Importer& importer, const Node& node) {
  std::string name = string_attr(node, "to", "");
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  Node later = node;
  Attribute& to = attribute_of(later, "to");
  to.kind = Attribute::kInt;
  for (to.integer = 1; wire::element_type_name(to.integer) != name; ++to.integer) {
    if (wire::element_type_name(to.integer).empty())
      throw UserError("attribute \"to\" is \"{}\", which ONNX does not know", to.text).help("e.g. \"FLOAT\"");
  }
  convert_later(importer, std::move(later));
}

void concat(Importer& importer, const Node& node) {
  std::vector<Expr> parts;
  for (size_t n = 0; n < node.inputs.size(); ++n) parts.push_back(importer.value(node, n));
  importer.emit(node, "relax.concat", {relax::TupleNode::make(parts)},
                {{"axis", attr(int_attr(node, "axis", 1))}});
}

void pad(Importer& importer, const Node& node) {
  Node later = node;
  attribute_of(later, "paddings").name = "pads";
  convert_later(importer, std::move(later));
}

void reshape(Importer& importer, const Node& node) {
  Node later = node;
  set_input(importer, later, 1, ints_attr(node, "shape", {}));
  later.attributes.clear();
  convert_later(importer, std::move(later));
}

void selu(Importer& importer, const Node& node) {
  Node later = node;
  const auto set_default = [&](const char* name, double value) {
    if (node.find(name)) return;
    Attribute& added = later.attributes.emplace_back();
    added.name = name, added.kind = Attribute::kFloat, added.number = value;
  };
  set_default("alpha", 1.6732F);
  set_default("gamma", 1.0507F);
  convert_later(importer, std::move(later));
}

// The sizes of pieces are an attribute or an input.
void split(Importer& importer, const Node& node) {
  Node later = node;
  if (importer.has_input(node, 1)) {
    remove(later, "split");
    later.attributes.push_back(integers("split", importer.require_ints(node, 1)));
    later.inputs.resize(1);
  }
  convert_later(importer, std::move(later));
}

// Repeats one dimension.
void tile(Importer& importer, const Node& node) {
  const std::vector<int64_t> tiles = importer.require_ints(node, 1), axes = importer.require_ints(node, 2);
  if (tiles.size() != 1 || axes.size() != 1)
    throw UserError("tiles has {} elements and axis {}, expected 1 each", tiles.size(), axes.size());
  const size_t ndim = shape_of(node, importer.value(node, 0)).size();
  std::vector<int64_t> repeats(ndim, 1);
  repeats[static_cast<size_t>(checked_axis(axes[0], ndim))] = tiles[0];
  Node later = node;
  later.inputs.resize(1);
  set_input(importer, later, 1, repeats);
  convert_later(importer, std::move(later));
}

void upsample(Importer& importer, const Node& node) {
  Node later = node;
  Attribute scales;
  scales.name = "scales", scales.kind = Attribute::kFloats;
  scales.numbers = {1, 1, float_attr(node, "height_scale", 1), float_attr(node, "width_scale", 1)};
  remove(later, "height_scale");
  remove(later, "width_scale");
  later.attributes.push_back(std::move(scales));
  convert_later(importer, std::move(later));
}

// p is a float.
void lp_pool(Importer& importer, const Node& node) {
  Node later = node;
  if (const double p = float_attr(node, "p", 2); node.find("p")) {
    if (p != std::floor(p) || p < 1) throw Unsupported("p is {}, supported are 1, 2, 3, ...", p);
    Attribute& power = attribute_of(later, "p");
    power.kind = Attribute::kInt, power.integer = static_cast<int64_t>(p);
  }
  convert_later(importer, std::move(later));
}

// ---- experimental operators

Expr scaled(Importer& importer, const Node& node, const Expr& x, double factor) {
  return importer.bind(node, "relax.multiply", {x, number(factor, relax::dtype_of(x))});
}

// alpha * x + beta
void affine(Importer& importer, const Node& node) {
  const Expr x = scaled(importer, node, importer.value(node, 0), float_attr(node, "alpha", 1));
  importer.emit(node, "relax.add", {x, number(float_attr(node, "beta", 0), relax::dtype_of(x))});
}

void scale(Importer& importer, const Node& node) {
  importer.define(node.outputs.at(0),
                  scaled(importer, node, importer.value(node, 0), float_attr(node, "scale", 1)));
}

// alpha * f(beta * x)
template <const char* kOp>
void scaled_function(Importer& importer, const Node& node) {
  const Expr x = scaled(importer, node, importer.value(node, 0), float_attr(node, "beta", 1));
  const Expr y = importer.bind(node, kOp, {x});
  importer.define(node.outputs.at(0), scaled(importer, node, y, float_attr(node, "alpha", 1)));
}
constexpr char kTanh[] = "relax.tanh", kSoftplus[] = "relax.nn.softplus";

// scale * x + bias[channel]
void image_scaler(Importer& importer, const Node& node) {
  const Expr x = importer.value(node, 0);
  const Attribute* bias = node.find("bias");
  std::vector<float> values;
  if (bias) values.assign(bias->numbers.begin(), bias->numbers.end());
  const Expr channels = relax::make_constant(
      runtime::Tensor::copy_of(values.data(), values.size() * sizeof(float),
                               runtime::Shape{static_cast<int64_t>(values.size())}, kFloat32));
  importer.define(node.outputs.at(0),
                  with_channels(importer, node, scaled(importer, node, x, float_attr(node, "scale", 1)),
                                bias ? bound_as(importer, channels, relax::dtype_of(x)) : nullptr));
}

// Removes border [left, top, right, bottom] of pictures, or keeps scale [height, width] behind left and top.
void crop(Importer& importer, const Node& node) {
  const Expr x = importer.value(node, 0);
  const relax::Shape& shape = shape_of(node, x);
  const std::vector<int64_t> border = ints_attr(node, "border", {}), size = ints_attr(node, "scale", {});
  if (shape.size() != 4 || border.size() != 4 || (node.find("scale") && size.size() != 2))
    throw UserError("the input has {} dimensions, border {} numbers and scale {}, expected 4, 4 and 2",
                    shape.size(), border.size(), size.size());
  relax::Shape axes, begin, end;
  for (size_t n = 0; n < 2; ++n) {
    const ir::PrimExpr first = relax::extent_imm(border[1 - n]);
    axes.push_back(relax::extent_imm(static_cast<int64_t>(n + 2)));
    begin.push_back(first);
    end.push_back(size.empty() ? arith::simplify(tir::operator-(shape[n + 2], border[3 - n]))
                               : relax::extent_imm(border[1 - n] + size[n]));
    importer.require(
        node, tir::logical_and(tir::operator<=(first, end.back()), tir::operator<=(end.back(), shape[n + 2])),
        "rows {} to {} of dimension {} of {} are kept", first, end.back(), n + 2, shape);
  }
  importer.emit(node, "relax.strided_slice",
                {x, relax::shape_expr(axes), relax::shape_expr(begin), relax::shape_expr(end)});
}

void given_tensor_fill(Importer& importer, const Node& node) {
  if (!node.inputs.empty() && !node.inputs[0].empty())
    throw Unsupported("the shape is input \"{}\", supported is attribute \"shape\"", node.inputs[0]);
  const Attribute* given = node.find("values");
  const std::vector<float> values(given->numbers.begin(), given->numbers.end());
  const std::vector<int64_t> shape = ints_attr(node, "shape", {static_cast<int64_t>(values.size())});
  int64_t count = 1;
  for (int64_t extent : shape) count = extent < 0 || extent > kMostExtent ? -1 : count * extent;
  if (count != static_cast<int64_t>(values.size()))
    throw UserError("{} values for a tensor of shape {}", values.size(), runtime::shape_str(shape));
  importer.define_constant(
      node.outputs.at(0),
      runtime::Tensor::copy_of(values.data(), values.size() * sizeof(float), shape, kFloat32));
}

constexpr AttributeRule kBroadcast[] = {{"axis", Attribute::kInt}, flag("broadcast")};
constexpr AttributeRule kBatchNorm[] = {
    {"epsilon", Attribute::kFloat, 0}, flag("is_test"), {"momentum", Attribute::kFloat}, flag("spatial")};
constexpr AttributeRule kCast[] = {{"to", Attribute::kString, kAnyLeast, kAnyMost, 1, kLastOpset, true}};
constexpr AttributeRule kDropout[] = {flag("is_test"), {"ratio", Attribute::kFloat, 0, 1}};
constexpr AttributeRule kGemm[] = {{"alpha", Attribute::kFloat},
                                   {"beta", Attribute::kFloat},
                                   flag("broadcast"),
                                   flag("transA"),
                                   flag("transB")};
constexpr AttributeRule kPad[] = {{"mode", Attribute::kString},
                                  {"paddings", Attribute::kInts, kAnyLeast, kAnyMost, 1, kLastOpset, true},
                                  {"value", Attribute::kFloat}};
constexpr AttributeRule kReshape[] = {{"shape", Attribute::kInts, kAnyLeast, kAnyMost, 1, kLastOpset, true}};
constexpr AttributeRule kSelu[] = {{"alpha", Attribute::kFloat}, {"gamma", Attribute::kFloat}};
constexpr AttributeRule kSplit[] = {{"axis", Attribute::kInt}, {"split", Attribute::kInts}};
constexpr AttributeRule kUpsample[] = {
    {"height_scale", Attribute::kFloat, 1, kMostExtent, 1, kLastOpset, true},
    {"mode", Attribute::kString},
    {"width_scale", Attribute::kFloat, 1, kMostExtent, 1, kLastOpset, true}};
constexpr AttributeRule kLpPool[] = {kAutoPad,
                                     {"kernel_shape", Attribute::kInts, 1, kMostExtent, 1, kLastOpset, true},
                                     {"p", Attribute::kFloat},
                                     extents("pads", 0),
                                     extents("strides", 1)};
constexpr AttributeRule kAlphaBeta[] = {{"alpha", Attribute::kFloat}, {"beta", Attribute::kFloat}};
constexpr AttributeRule kScale[] = {{"scale", Attribute::kFloat}};
constexpr AttributeRule kImageScaler[] = {{"bias", Attribute::kFloats}, {"scale", Attribute::kFloat}};
constexpr AttributeRule kCrop[] = {{"border", Attribute::kInts, 0, kMostExtent, 1, kLastOpset, true},
                                   {"scale", Attribute::kInts, 0, kMostExtent}};
constexpr AttributeRule kGivenTensorFill[] = {
    {"shape", Attribute::kInts}, {"values", Attribute::kFloats, kAnyLeast, kAnyMost, 1, kLastOpset, true}};

constexpr ConverterRow kRows[] = {
    {"Add", with_axis, 2, 2, kBroadcast, 1, 1, kEarly},
    {"Affine", affine, 1, 1, kAlphaBeta, 1, 1, kExperimental},
    {"And", with_axis, 2, 2, kBroadcast, 1, 1, kEarly},
    {"BatchNormalization", batch_norm, 5, 5, kBatchNorm, 5, 1, kEarly, 5},
    {"Cast", cast, 1, 1, kCast, 1, 1, 5},
    {"Concat", concat, 1, kAnyNumber, kAxis, 1, 1, 3},
    {"Crop", crop, 1, 1, kCrop, 1, 1, kExperimental},
    {"Div", with_axis, 2, 2, kBroadcast, 1, 1, kEarly},
    {"Dropout", dropout, 1, 1, kDropout, 2, 1, kEarly},
    {"Equal", with_axis, 2, 2, kBroadcast, 1, 1, kEarly},
    {"Gemm", gemm, 3, 3, kGemm, 1, 1, kEarly},
    {"GivenTensorFill", given_tensor_fill, 0, 1, kGivenTensorFill, 1, 1, kExperimental},
    {"Greater", with_axis, 2, 2, kBroadcast, 1, 1, kEarly},
    {"ImageScaler", image_scaler, 1, 1, kImageScaler, 1, 1, kExperimental},
    {"Less", with_axis, 2, 2, kBroadcast, 1, 1, kEarly},
    {"LpPool", lp_pool, 1, 1, kLpPool, 1, 1, 1},
    {"Mul", with_axis, 2, 2, kBroadcast, 1, 1, kEarly},
    {"Or", with_axis, 2, 2, kBroadcast, 1, 1, kEarly},
    {"PRelu", prelu, 2, 2, {}, 1, 1, kEarly},
    {"Pad", pad, 1, 1, kPad, 1, 1, 1},
    {"ParametricSoftplus", scaled_function<kSoftplus>, 1, 1, kAlphaBeta, 1, 1, kExperimental},
    {"Pow", with_axis, 2, 2, kBroadcast, 1, 1, kEarly},
    {"Reshape", reshape, 1, 1, kReshape, 1, 1, 4},
    {"Scale", scale, 1, 1, kScale, 1, 1, kExperimental},
    {"ScaledTanh", scaled_function<kTanh>, 1, 1, kAlphaBeta, 1, 1, kExperimental},
    {"Selu", selu, 1, 1, kSelu, 1, 1, 5},
    {"Split", split, 1, 2, kSplit, kAnyNumber, 1, 1, kAnyNumber},
    {"Sub", with_axis, 2, 2, kBroadcast, 1, 1, kEarly},
    {"Tile", tile, 3, 3, {}, 1, 1, 5},
    {"Upsample", upsample, 1, 1, kUpsample, 1, 1, kEarly},
    {"Xor", with_axis, 2, 2, kBroadcast, 1, 1, kEarly},
};

}  // namespace

extern constinit const ConverterTable early_info = {kRows};

}  // namespace tilewright::frontend::onnx
