// Reads and writes elements at indices from tensors.  Indices that are known at import time are compared with
// the extents then, others at run time: negative ones count from the end, and none may be out of range.
// Source: onnx.ai/onnx/operators, opset 7 to 22.
#include <algorithm>

#include "tilewright/frontend/onnx/converters/attributes.h"
#include "tilewright/frontend/onnx/import/convert.h"

namespace tilewright::frontend::onnx {
namespace {

// ---- range checks

/// The dimensions first, first + 1, .. that the columns of the indices refer to.
struct Indexed {
  size_t first = 0;
  relax::Shape extents;
};

void require_index(Importer& importer, const Node& node, const Indexed& dims, size_t n,
                   const ir::PrimExpr& index) {
  const ir::PrimExpr extent = relax::as_extent(dims.extents[n]), at = relax::as_extent(index);
  const ir::PrimExpr from_end = tir::operator<=(relax::extent_imm(0), tir::operator+(at, extent));
  importer.require(node, tir::logical_and(from_end, tir::operator<(at, extent)),
                   "index {} is outside of dimension {}, which has extent {}", index, dims.first + n, extent);
}

// Checking the smallest and the largest index of each dimension is enough.
template <class T>
void require_constants(Importer& importer, const Node& node, const Indexed& dims,
                       const runtime::Tensor& indices) {
  const T* data = indices.data_as<T>();
  const auto count = static_cast<size_t>(indices.num_elements()), depth = dims.extents.size();
  if (count < depth) return;
  for (size_t n = 0; n < depth; ++n) {
    T least = data[n], greatest = data[n];
    for (size_t at = n; at < count; at += depth) {
      least = std::min(least, data[at]);
      greatest = std::max(greatest, data[at]);
    }
    require_index(importer, node, dims, n, relax::extent_imm(least));
    if (greatest != least) require_index(importer, node, dims, n, relax::extent_imm(greatest));
  }
}

// Input 1 of `node`, checked to be in range.
Expr indices_of(Importer& importer, const Node& node, const Indexed& dims) {
  const Expr indices = importer.value(node, 1);
  if (dims.extents.empty()) return indices;
  if (const auto* constant = indices.as<relax::ConstantNode>()) {
    const runtime::Tensor data = constant->data.compact();
    if (data.dtype() == kInt64) require_constants<int64_t>(importer, node, dims, data);
    if (data.dtype() == kInt32) require_constants<int32_t>(importer, node, dims, data);
    if (data.dtype() == kInt64 || data.dtype() == kInt32) return indices;
  }
  if (const auto elements = importer.known(node, 1)) {
    for (size_t n = 0; n < elements->size(); ++n)
      require_index(importer, node, dims, n % dims.extents.size(), (*elements)[n]);
    return indices;
  }
  return importer.bind(node, "relax.require_indices",
                       {indices, relax::shape_expr(dims.extents),
                        scalar_value(relax::extent_imm(static_cast<int64_t>(dims.first))),
                        relax::StringValueNode::make(node.shown())});
}

// Indices into one dimension of input 0.
Expr indices_along(Importer& importer, const Node& node, int64_t axis) {
  const relax::Shape& shape = shape_of(node, importer.value(node, 0));
  const auto place = static_cast<size_t>(checked_axis(axis, shape.size()));
  return indices_of(importer, node, {place, {shape[place]}});
}

// Indices into as many dimensions of input 0 as the last dimension of the indices has elements; the operator
// refuses shapes that do not fit.
Expr indices_of_rows(Importer& importer, const Node& node, int64_t batch_dims) {
  const relax::Shape& shape = shape_of(node, importer.value(node, 0));
  const relax::Shape& rows = shape_of(node, importer.value(node, 1));
  int64_t depth = 0;
  const bool fits = !rows.empty() && tir::as_const_int(rows.back(), &depth) && batch_dims >= 0 &&
                    depth >= 0 && batch_dims + depth <= static_cast<int64_t>(shape.size());
  if (!fits) return importer.value(node, 1);
  return indices_of(
      importer, node,
      {static_cast<size_t>(batch_dims), {shape.begin() + batch_dims, shape.begin() + batch_dims + depth}});
}

// ---- operators

void gather(Importer& importer, const Node& node) {
  const int64_t axis = int_attr(node, "axis", 0);
  const Expr indices = indices_along(importer, node, axis);
  importer.emit(node, "relax.take", {importer.value(node, 0), indices},
                {{"axis", attr(axis)}, {"mode", attr("clip")}});
}

void gather_elements(Importer& importer, const Node& node) {
  const int64_t axis = int_attr(node, "axis", 0);
  const Expr indices = indices_along(importer, node, axis);
  importer.emit(node, "relax.gather_elements", {importer.value(node, 0), indices}, {{"axis", attr(axis)}});
}

void gather_nd(Importer& importer, const Node& node) {
  const int64_t batch_dims = int_attr(node, "batch_dims", 0);
  const Expr indices = indices_of_rows(importer, node, batch_dims);
  importer.emit(node, "relax.gather_nd", {importer.value(node, 0), indices},
                {{"batch_dims", attr(batch_dims)}});
}

std::string reduction_of(const Node& node) {
  const std::string reduction = string_attr(node, "reduction", "none");
  require_known_text("reduction", reduction, {"none", "add", "mul", "max", "min"});
  return reduction == "none" ? "update" : reduction;
}

void scatter_elements(Importer& importer, const Node& node) {
  const int64_t axis = int_attr(node, "axis", 0);
  const Expr indices = indices_along(importer, node, axis);
  importer.emit(node, "relax.scatter_elements", {importer.value(node, 0), indices, importer.value(node, 2)},
                {{"axis", attr(axis)}, {"reduction", attr(reduction_of(node))}});
}

void scatter_nd(Importer& importer, const Node& node) {
  const Expr indices = indices_of_rows(importer, node, 0);
  importer.emit(node, "relax.scatter_nd", {importer.value(node, 0), indices, importer.value(node, 2)},
                {{"reduction", attr(reduction_of(node))}});
}

void reverse_sequence(Importer& importer, const Node& node) {
  const Expr x = importer.value(node, 0);
  const relax::Shape& shape = shape_of(node, x);
  const int64_t axis = int_attr(node, "time_axis", 0);
  const Expr lengths = importer.bind(
      node, "relax.require_range",
      {importer.value(node, 1), scalar_value(relax::extent_imm(0)),
       scalar_value(relax::as_extent(shape[static_cast<size_t>(checked_axis(axis, shape.size()))])),
       relax::StringValueNode::make(fmt::format("{}: sequence_lens", node.shown()))});
  importer.emit(node, "relax.reverse_sequence", {x, lengths},
                {{"seq_axis", attr(axis)}, {"batch_axis", attr(int_attr(node, "batch_axis", 1))}});
}

constexpr AttributeRule kGatherND[] = {{"batch_dims", Attribute::kInt, kAnyLeast, kAnyMost, 12}};
constexpr AttributeRule kReverseSequence[] = {{"batch_axis", Attribute::kInt, 0, 1},
                                              {"time_axis", Attribute::kInt, 0, 1}};
constexpr AttributeRule kScatterElements[] = {{"axis", Attribute::kInt},
                                              {"reduction", Attribute::kString, kAnyLeast, kAnyMost, 16}};
constexpr AttributeRule kScatterND[] = {{"reduction", Attribute::kString, kAnyLeast, kAnyMost, 16}};

constexpr ConverterRow kRows[] = {
    {"Gather", gather, 2, 2, kAxis},
    {"GatherElements", gather_elements, 2, 2, kAxis, 1, 11},
    {"GatherND", gather_nd, 2, 2, kGatherND, 1, 11},
    {"ReverseSequence", reverse_sequence, 2, 2, kReverseSequence, 1, 10},
    {"Scatter", scatter_elements, 3, 3, kAxis, 1, 9, 10},
    {"ScatterElements", scatter_elements, 3, 3, kScatterElements, 1, 11},
    {"ScatterND", scatter_nd, 3, 3, kScatterND, 1, 11},
    {"com.microsoft::GatherND", gather_nd, 2, 2},
};

}  // namespace

extern constinit const ConverterTable index_info = {kRows};

}  // namespace tilewright::frontend::onnx
