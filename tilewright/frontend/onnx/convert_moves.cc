// Constants, shape arithmetic and moves of elements: what turns into shapes that are known when the model is
// imported. Source: onnx.ai/onnx/operators, opset 7 to 22.
#include <algorithm>

#include "tilewright/arith/analyzer.h"
#include "tilewright/frontend/onnx/convert.h"

namespace tilewright::frontend::onnx {
namespace {

// `values` as a tensor of shape [n], or of shape [] for one number that is no list
template <class T, class U>
runtime::Tensor tensor_of(const std::vector<U>& values, DataType dtype, bool is_list) {
  const std::vector<T> data(values.begin(), values.end());
  std::vector<int64_t> shape;
  if (is_list) shape.push_back(static_cast<int64_t>(data.size()));
  return runtime::Tensor::copy_of(data.data(), data.size() * sizeof(T), shape, dtype);
}

runtime::Tensor constant_data(const Attribute& value) {
  switch (value.kind) {
    case Attribute::kTensor: return value.tensor;
    case Attribute::kInt: return tensor_of<int64_t>(std::vector{value.integer}, kInt64, false);
    case Attribute::kInts: return tensor_of<int64_t>(value.integers, kInt64, true);
    case Attribute::kFloat: return tensor_of<float>(std::vector{value.number}, kFloat32, false);
    case Attribute::kFloats: return tensor_of<float>(value.numbers, kFloat32, true);
    default: throw Unsupported("attribute \"{}\" holds no numbers", value.name);
  }
}

void constant(Importer& importer, const Node& node) {
  if (node.attributes.size() != 1)
    throw UserError("{} attributes, expected 1 with the value", node.attributes.size());
  importer.define_constant(node.outputs.at(0), constant_data(node.attributes[0]));
}

void identity(Importer& importer, const Node& node) { importer.pass_on(node); }

// Outside of training it passes its input on.
void dropout(Importer& importer, const Node& node) {
  if (const Expr training = importer.value(node, 2)) {
    const auto* mode = training.as<relax::ConstantNode>();
    if (!mode || mode->data.dtype() != kBoolType || mode->data.num_elements() != 1 ||
        *mode->data.data_as<int8_t>())
      throw Unsupported("training_mode is not the constant False, only inference is supported");
  }
  importer.pass_on(node);
}

// The extents of dimensions start to end, counted from the end when negative, clamped.
void shape(Importer& importer, const Node& node) {
  const relax::Shape& extents = shape_of(node, importer.value(node, 0));
  const auto ndim = static_cast<int64_t>(extents.size());
  auto position = [&](const char* name, int64_t otherwise) {
    const int64_t axis = int_attr(node, name, otherwise);
    return std::clamp<int64_t>(axis < 0 ? axis + ndim : axis, 0, ndim);
  };
  const int64_t first = position("start", 0), last = std::max(first, position("end", ndim));
  importer.define_known(node.outputs.at(0), relax::Shape(extents.begin() + first, extents.begin() + last));
}

// Indices and extents that are known now are compared now.
void require_inside(Importer& importer, const Node& node, int64_t axis) {
  const relax::Shape& shape = shape_of(node, importer.value(node, 0));
  const auto indices = importer.known(node, 1);
  int64_t extent, index;
  const auto place = static_cast<size_t>(checked_axis(axis, shape.size()));
  if (!indices || !tir::as_const_int(shape[place], &extent)) return;
  for (const ir::PrimExpr& each : *indices) {
    if (tir::as_const_int(each, &index) && (index < -extent || index >= extent))
      throw UserError("index {} of dimension {}, which has extent {}", index, place, extent);
  }
}

void gather(Importer& importer, const Node& node) {
  auto elements = importer.known(node, 0);
  const int64_t axis = int_attr(node, "axis", 0);
  if (!elements) require_inside(importer, node, axis);
  if (!elements || !importer.known(node, 1) || (axis != 0 && axis != -1))
    // indices come with the data: one that is outside must not reach memory that is not ours
    return importer.emit(node, "relax.take", {importer.value(node, 0), importer.value(node, 1)},
                         {{"axis", attr(axis)}, {"mode", attr("clip")}});
  relax::Shape picked;
  for (int64_t index : importer.require_ints(node, 1)) {
    if (index < 0) index += static_cast<int64_t>(elements->size());
    if (index < 0 || index >= static_cast<int64_t>(elements->size()))
      throw UserError("index {} of a shape of {} extents", index, elements->size());
    picked.push_back((*elements)[static_cast<size_t>(index)]);
  }
  importer.define_known(node.outputs.at(0), std::move(picked), importer.is_scalar(node, 1));
}

std::vector<int64_t> axes_of(Importer& importer, const Node& node) {
  if (node.find("axes")) return ints_attr(node, "axes", {});
  return node.inputs.size() > 1 ? importer.require_ints(node, 1) : std::vector<int64_t>{};
}

void unsqueeze(Importer& importer, const Node& node) {
  const std::vector<int64_t> axes = axes_of(importer, node);
  const bool adds_first = axes == std::vector<int64_t>{0} || axes == std::vector<int64_t>{-1};
  if (importer.is_scalar(node, 0) && adds_first)
    return importer.define_known(node.outputs.at(0), importer.require_known(node, 0));
  importer.emit(node, "relax.expand_dims", {importer.value(node, 0)}, {{"axis", attr(axes)}});
}

void squeeze(Importer& importer, const Node& node) {
  const std::vector<int64_t> axes = axes_of(importer, node);
  const auto elements = importer.known(node, 0);
  const bool drops_first =
      axes.empty() || axes == std::vector<int64_t>{0} || axes == std::vector<int64_t>{-1};
  if (elements && elements->size() == 1 && !importer.is_scalar(node, 0) && drops_first)
    return importer.define_known(node.outputs.at(0), *elements, true);
  ir::AttrMap attrs;
  if (!axes.empty()) attrs.set("axis", attr(axes));
  importer.emit(node, "relax.squeeze", {importer.value(node, 0)}, std::move(attrs));
}

void concat(Importer& importer, const Node& node) {
  relax::Shape joined;
  bool all_known = true;
  for (size_t n = 0; n < node.inputs.size() && all_known; ++n) {
    auto elements = importer.known(node, n);
    all_known = elements.has_value();
    if (elements) joined.insert(joined.end(), elements->begin(), elements->end());
  }
  const int64_t axis = int_attr(node, "axis", 0);
  if (all_known && (axis == 0 || axis == -1))
    return importer.define_known(node.outputs.at(0), std::move(joined));
  std::vector<Expr> parts;
  for (size_t n = 0; n < node.inputs.size(); ++n) {
    parts.push_back(importer.value(node, n));
  }
  importer.emit(node, "relax.concat", {relax::TupleNode::make(parts)}, {{"axis", attr(axis)}});
}

// 0 keeps the extent of the input, -1 is what remains
void reshape(Importer& importer, const Node& node) {
  const Expr data = importer.value(node, 0);
  relax::Shape target = importer.require_known(node, 1);
  const relax::Shape& from = shape_of(node, data);
  ir::PrimExpr rest = relax::num_elements(from);
  std::optional<size_t> free_axis;
  for (size_t axis = 0; axis < target.size(); ++axis) {
    if (tir::is_const_int(target[axis], 0) && !int_attr(node, "allowzero", 0)) {
      if (axis >= from.size())
        throw UserError("the shape keeps dimension {} of an input with {} dimensions", axis, from.size());
      target[axis] = from[axis];
    }
    int64_t extent = 0;
    const bool is_free = tir::as_const_int(target[axis], &extent) && extent == -1;
    if (extent < -1) throw UserError("extent {} of the new shape is {}", axis, extent);
    if (is_free && free_axis)
      throw UserError("extents {} and {} of the new shape are both -1", *free_axis, axis);
    if (is_free)
      free_axis = axis;
    else
      rest = tir::floordiv(rest, target[axis]);
  }
  if (free_axis) target[*free_axis] = arith::simplify(rest);
  importer.emit(node, "relax.reshape", {data, relax::shape_expr(target)});
}

void flatten(Importer& importer, const Node& node) {
  const Expr data = importer.value(node, 0);
  const relax::Shape& from = shape_of(node, data);
  int64_t axis = int_attr(node, "axis", 1);
  if (axis < 0) axis += static_cast<int64_t>(from.size());
  if (axis < 0 || axis > static_cast<int64_t>(from.size()))
    throw UserError("axis {} of a tensor with {} dimensions", axis, from.size());
  const relax::Shape head(from.begin(), from.begin() + axis), tail(from.begin() + axis, from.end());
  const relax::Shape target{relax::num_elements(head), relax::num_elements(tail)};
  importer.emit(node, "relax.reshape", {data, relax::shape_expr(target)});
}

void transpose(Importer& importer, const Node& node) {
  const Expr data = importer.value(node, 0);
  std::vector<int64_t> axes = ints_attr(node, "perm", {});
  if (axes.empty()) {
    for (size_t n = shape_of(node, data).size(); n-- > 0;) axes.push_back(static_cast<int64_t>(n));
  }
  importer.emit(node, "relax.permute_dims", {data}, {{"axes", attr(axes)}});
}

void slice(Importer& importer, const Node& node) {
  const bool from_attrs = node.find("starts") != nullptr;
  auto numbers = [&](const char* name, size_t input) {
    return from_attrs ? ints_attr(node, name, {}) : importer.require_ints(node, input);
  };
  const std::vector<int64_t> begin = numbers("starts", 1), end = numbers("ends", 2);
  std::vector<int64_t> axes, steps(begin.size(), 1);
  if (from_attrs ? node.find("axes") != nullptr : node.inputs.size() > 3 && !node.inputs[3].empty())
    axes = numbers("axes", 3);
  if (!from_attrs && node.inputs.size() > 4 && !node.inputs[4].empty())
    steps = importer.require_ints(node, 4);
  for (size_t n = axes.size(); n < begin.size(); ++n) axes.push_back(static_cast<int64_t>(n));
  auto bounds = [](const std::vector<int64_t>& values) -> Expr {
    const relax::Shape numbers = relax::extents(values);
    return relax::shape_expr(numbers);
  };
  importer.emit(node, "relax.strided_slice",
                {importer.value(node, 0), bounds(axes), bounds(begin), bounds(end), bounds(steps)});
}

constexpr ConverterRow kConverters[] = {
    {"Concat", concat}, {"Constant", constant}, {"Dropout", dropout},     {"Flatten", flatten},
    {"Gather", gather}, {"Identity", identity}, {"Reshape", reshape},     {"Shape", shape},
    {"Slice", slice},   {"Squeeze", squeeze},   {"Transpose", transpose}, {"Unsqueeze", unsqueeze},
};

}  // namespace

std::span<const ConverterRow> move_converters() { return kConverters; }

}  // namespace tilewright::frontend::onnx
