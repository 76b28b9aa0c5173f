// Constants, shape arithmetic and moves of elements: the nodes from which shapes are computed at import time.
// Source: onnx.ai/onnx/operators, opset 7 to 22.
#include <algorithm>

#include "tilewright/arith/analyzer.h"
#include "tilewright/frontend/onnx/converters/attributes.h"
#include "tilewright/frontend/onnx/import/convert.h"
#include "tilewright/frontend/onnx/import/strings.h"
#include "tilewright/support/count_text.h"

namespace tilewright::frontend::onnx {
namespace {

// `values` as a tensor of shape [n], or of shape [] for a single value that is not a list
template <class T, class U>
runtime::Tensor tensor_of(const std::vector<U>& values, DataType dtype, bool is_list) {
  const std::vector<T> data(values.begin(), values.end());
  std::vector<int64_t> shape;
  if (is_list) shape.push_back(static_cast<int64_t>(data.size()));
  return runtime::Tensor::copy_of(data.data(), data.size() * sizeof(T), shape, dtype);
}

runtime::Tensor constant_data(const Importer& importer, const Attribute& value) {
  switch (value.kind) {
    case Attribute::kString:
      return tensor_of<int64_t>(std::vector{importer.strings->id(value.text)}, kInt64, false);
    case Attribute::kStrings: return tensor_of<int64_t>(importer.strings->ids(value.texts), kInt64, true);
    case Attribute::kTensor: return value.tensor;
    case Attribute::kInt: return tensor_of<int64_t>(std::vector{value.integer}, kInt64, false);
    case Attribute::kInts: return tensor_of<int64_t>(value.integers, kInt64, true);
    case Attribute::kFloat: return tensor_of<float>(std::vector{value.number}, kFloat32, false);
    case Attribute::kFloats: return tensor_of<float>(value.numbers, kFloat32, true);
    default:  // sparse_value
      throw Unsupported("attribute \"{}\" is a sparse tensor", value.name)
          .help("store the tensor as a dense one");
  }
}

void constant(Importer& importer, const Node& node) {
  if (node.attributes.size() != 1)
    throw UserError("{} attributes, expected 1 with the value", node.attributes.size());
  importer.define_constant(node.outputs.at(0), constant_data(importer, node.attributes[0]));
}

void identity(Importer& importer, const Node& node) { importer.pass_on(node); }

// The extents of dimensions start to end, counted from the end if negative, clamped.
void shape(Importer& importer, const Node& node) {
  const relax::Shape& extents = shape_of(node, importer.value(node, 0));
  const auto ndim = static_cast<int64_t>(extents.size());
  auto position = [&](const char* name, int64_t otherwise) {
    const int64_t axis = int_attr(node, name, otherwise);
    return std::clamp<int64_t>(axis < 0 ? axis + ndim : axis, 0, ndim);
  };
  const int64_t first = position("start", 0), last = std::max(first, position("end", ndim));
  Known known{kInt64, {last - first}, {}, &node};
  for (int64_t n = first; n < last; ++n) known.elements.push_back({extents[static_cast<size_t>(n)]});
  importer.define_known(node.outputs.at(0), std::move(known));
}

std::vector<int64_t> axes_of(Importer& importer, const Node& node) {
  if (node.find("axes")) return ints_attr(node, "axes", {});
  return importer.has_input(node, 1) ? importer.require_ints(node, 1) : std::vector<int64_t>{};
}

void unsqueeze(Importer& importer, const Node& node) {
  const std::vector<int64_t> axes = axes_of(importer, node);
  importer.emit(node, "relax.expand_dims", {importer.value(node, 0)}, {{"axis", attr(axes)}});
}

// Without axes, all dimensions of extent 1 are removed; symbolic extents must differ from 1.
void squeeze(Importer& importer, const Node& node) {
  const std::vector<int64_t> axes = axes_of(importer, node);
  const Expr x = importer.value(node, 0);
  ir::AttrMap attrs;
  if (!axes.empty()) {
    attrs.set("axis", attr(axes));
  } else {
    const relax::Shape& shape = shape_of(node, x);
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (is<ir::IntImmNode>(shape[axis])) continue;
      importer.require(node, tir::not_equal(shape[axis], relax::extent_imm(1)),
                       "dimension {} of {} would be removed, which requires axes", axis, shape);
    }
  }
  importer.emit(node, "relax.squeeze", {x}, std::move(attrs));
}

void concat(Importer& importer, const Node& node) {
  std::vector<Expr> parts;
  for (size_t n = 0; n < node.inputs.size(); ++n) {
    parts.push_back(importer.value(node, n));
  }
  importer.emit(node, "relax.concat", {relax::TupleNode::make(parts)},
                {{"axis", attr(int_attr(node, "axis", 0))}});
}

/// The extents of a Reshape: 0 keeps the extent of the input, -1 is computed from the rest.
struct NewShape {
  const relax::Shape& from;
  bool keeps;  // true if 0 keeps the extent
  relax::Shape target;
  std::optional<size_t> free_axis;

  const ir::PrimExpr& kept(size_t axis) const {
    if (axis >= from.size())
      throw UserError("the shape keeps dimension {} of an input with {}", axis,
                      count_text(from.size(), "dimension"));
    return from[axis];
  }
  void resolve_numbers() {
    for (size_t axis = 0; axis < target.size(); ++axis) {
      int64_t extent = 0;
      if (!tir::as_const_int(target[axis], &extent)) continue;
      if (extent == 0 && keeps) target[axis] = kept(axis);
      if (extent < -1)
        throw UserError("extent {} of the new shape is {}, expected at least -1", axis, extent);
      if (extent == -1 && free_axis)
        throw UserError("extents {} and {} of the new shape are both -1", *free_axis, axis);
      if (extent == -1) free_axis = axis;
    }
  }
  // Adds requirements for extents that may be 0 or -1 at run time.
  void resolve_open(arith::Analyzer& facts) {
    const ir::PrimExpr zero = relax::extent_imm(0), one = relax::extent_imm(1), minus = relax::extent_imm(-1);
    std::vector<size_t> open;
    ir::PrimExpr others = one;
    for (size_t axis = 0; axis < target.size(); ++axis) {
      if (axis == free_axis) continue;
      ir::PrimExpr& extent = target[axis];
      const bool is_extent = is<ir::IntImmNode>(extent) || facts.can_prove(tir::operator<=(zero, extent));
      if (!is_extent && keeps && axis < from.size())
        extent = tir::select(tir::equal(extent, zero), from[axis], extent);
      if (!is_extent && !free_axis) {
        open.push_back(axis);
        others = tir::operator*(others, tir::select(tir::equal(extent, minus), one, extent));
      } else {
        others = tir::operator*(others, extent);
      }
    }
    const ir::PrimExpr rest = facts.simplify(tir::floordiv(relax::num_elements(from), others));
    if (free_axis) target[*free_axis] = rest;
    for (size_t axis : open) target[axis] = tir::select(tir::equal(target[axis], minus), rest, target[axis]);
  }
};

void reshape(Importer& importer, const Node& node) {
  const Expr data = importer.value(node, 0);
  NewShape shape{
      shape_of(node, data), int_attr(node, "allowzero", 0) == 0, importer.require_known(node, 1), {}};
  shape.resolve_numbers();
  shape.resolve_open(importer.facts);
  importer.emit(node, "relax.reshape", {data, relax::shape_expr(shape.target)});
}

void flatten(Importer& importer, const Node& node) {
  const Expr data = importer.value(node, 0);
  const relax::Shape& from = shape_of(node, data);
  int64_t axis = int_attr(node, "axis", 1);
  if (axis < 0) axis += static_cast<int64_t>(from.size());
  if (axis < 0 || axis > static_cast<int64_t>(from.size()))
    throw UserError("axis {} is outside of a tensor with {}", axis, count_text(from.size(), "dimension"));
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

// `bound` of a Slice counted from the start, also if its sign is only known at run time
ir::PrimExpr from_start(arith::Analyzer& facts, const ir::PrimExpr& bound, const ir::PrimExpr& extent) {
  const ir::PrimExpr zero = relax::extent_imm(0);
  if (is<ir::IntImmNode>(bound) || facts.can_prove(tir::operator<=(zero, bound))) return bound;
  const ir::PrimExpr from_end = tir::operator+(bound, extent);
  if (facts.can_prove(tir::operator<(bound, zero))) return facts.simplify(from_end);
  return facts.simplify(tir::select(tir::operator<(bound, zero), from_end, bound));
}

void slice(Importer& importer, const Node& node) {
  const bool from_attrs = node.find("starts") != nullptr;
  const auto bounds = [&](const char* name, size_t input) {
    return from_attrs ? relax::extents(ints_attr(node, name, {})) : importer.require_known(node, input);
  };
  const Expr data = importer.value(node, 0);
  const relax::Shape& shape = shape_of(node, data);
  relax::Shape begin = bounds("starts", 1), end = bounds("ends", 2);
  std::vector<int64_t> axes, steps(begin.size(), 1);
  if (from_attrs)
    axes = ints_attr(node, "axes", {});
  else if (importer.has_input(node, 3))
    axes = importer.require_ints(node, 3);
  if (!from_attrs && importer.has_input(node, 4)) steps = importer.require_ints(node, 4);
  for (size_t n = axes.size(); n < begin.size(); ++n) axes.push_back(static_cast<int64_t>(n));
  if (begin.size() == axes.size() && end.size() == axes.size()) {
    for (size_t n = 0; n < axes.size(); ++n) {
      const ir::PrimExpr& extent = shape[static_cast<size_t>(checked_axis(axes[n], shape.size()))];
      begin[n] = from_start(importer.facts, begin[n], extent);
      end[n] = from_start(importer.facts, end[n], extent);
    }
  }
  importer.emit(node, "relax.strided_slice",
                {data, relax::shape_expr(relax::extents(axes)), relax::shape_expr(begin),
                 relax::shape_expr(end), relax::shape_expr(relax::extents(steps))});
}

constexpr AttributeRule kRequiredAxis[] = {
    {"axis", Attribute::kInt, kAnyLeast, kAnyMost, kFirstOpset, kLastOpset, true}};
constexpr AttributeRule kAxes[] = {{"axes", Attribute::kInts}};
constexpr AttributeRule kRequiredAxes[] = {
    {"axes", Attribute::kInts, kAnyLeast, kAnyMost, kFirstOpset, kLastOpset, true}};
constexpr AttributeRule kAllowZero[] = {flag("allowzero", 14)};
constexpr AttributeRule kPerm[] = {{"perm", Attribute::kInts, 0}};
constexpr AttributeRule kShape[] = {{"start", Attribute::kInt, kAnyLeast, kAnyMost, 15},
                                    {"end", Attribute::kInt, kAnyLeast, kAnyMost, 15}};
constexpr AttributeRule kSlice[] = {
    {"axes", Attribute::kInts},
    {"starts", Attribute::kInts, kAnyLeast, kAnyMost, kFirstOpset, kLastOpset, true},
    {"ends", Attribute::kInts, kAnyLeast, kAnyMost, kFirstOpset, kLastOpset, true}};
constexpr AttributeRule kConstant[] = {{"value", Attribute::kTensor},
                                       {"sparse_value", Attribute::kOther, kAnyLeast, kAnyMost, 11},
                                       {"value_float", Attribute::kFloat, kAnyLeast, kAnyMost, 12},
                                       {"value_floats", Attribute::kFloats, kAnyLeast, kAnyMost, 12},
                                       {"value_int", Attribute::kInt, kAnyLeast, kAnyMost, 12},
                                       {"value_ints", Attribute::kInts, kAnyLeast, kAnyMost, 12},
                                       {"value_string", Attribute::kString, kAnyLeast, kAnyMost, 12},
                                       {"value_strings", Attribute::kStrings, kAnyLeast, kAnyMost, 12}};

constexpr ConverterRow kRows[] = {
    {"Concat", concat, 1, kAnyNumber, kRequiredAxis},
    {"Constant", constant, 0, 0, kConstant},
    {"Flatten", flatten, 1, 1, kAxis},
    {"Identity", identity, 1, 1},
    {"Reshape", reshape, 2, 2, kAllowZero},
    {"Shape", shape, 1, 1, kShape},
    {"Slice", slice, 1, 1, kSlice, 1, kFirstOpset, 9},
    {"Slice", slice, 3, 5, {}, 1, 10},
    {"Squeeze", squeeze, 1, 1, kAxes, 1, kFirstOpset, 12},
    {"Squeeze", squeeze, 1, 2, {}, 1, 13},
    {"Transpose", transpose, 1, 1, kPerm},
    {"Unsqueeze", unsqueeze, 1, 1, kRequiredAxes, 1, kFirstOpset, 12},
    {"Unsqueeze", unsqueeze, 2, 2, {}, 1, 13},
};

}  // namespace

extern constinit const ConverterTable moves_info = {kRows};

}  // namespace tilewright::frontend::onnx
