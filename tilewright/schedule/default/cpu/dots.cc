#include "tilewright/schedule/default/cpu/dots.h"

#include "tilewright/schedule/intrinsics/dot.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

constexpr int64_t kMinLanes = 4;

bool has_instruction(DataType row, DataType column, const Features& features) {
  if (row.is_bfloat16()) return column.is_bfloat16() && features.dots.bfloats;
  if (row.bits != 8 || column.bits != 8) return false;
  if (row.is_uint() && column.is_uint()) return features.dots.unsigned_bytes;
  if (row.is_int() && column.is_int()) return features.dots.signed_bytes;
  return (row.is_int() || row.is_uint()) && (column.is_int() || column.is_uint()) &&
         features.dots.mixed_bytes;
}

// What `value` converts to the dtype of the sum; null if it is something else.
const BufferLoadNode* converted_load(const PrimExpr& value) {
  const auto* converted = value.as<CastNode>();
  return converted ? converted->value.as<BufferLoadNode>() : nullptr;
}

bool is_axis(const PrimExpr& index, const Var& axis) { return index.as<VarNode>() == axis.get(); }

// [..., axis // group, ..., axis % group]
bool is_in_groups(const BufferLoadNode* load, const Var& axis, int64_t group) {
  const auto has_parts = [&](const auto* part) {
    return part && is_axis(part->a, axis) && is_const_int(part->b, group);
  };
  if (!has_parts(load->indices.back().as<FloorModNode>())) return false;
  return std::count_if(load->indices.begin(), load->indices.end(),
                       [&](const PrimExpr& index) { return has_parts(index.as<FloorDivNode>()); }) == 1;
}

bool is_once_an_index(const BufferLoadNode* load, const Var& axis) {
  return std::count_if(load->indices.begin(), load->indices.end(),
                       [&](const PrimExpr& index) { return is_axis(index, axis); }) == 1;
}

std::optional<size_t> group_axis(const BlockShape& sum, const BufferLoadNode* row, int64_t group) {
  for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis) {
    const IterVar& each = sum.block->iter_vars[axis];
    if (each->iter_type == IterType::kReduce && sum.extent(axis) > 0 && sum.extent(axis) % group == 0 &&
        along(row->buffer, row->indices, each->var) == Along::kContiguous)
      return axis;
  }
  return std::nullopt;
}

}  // namespace

std::optional<DotSum> dot_sum(const BlockShape& sum, size_t column_axis, const Features& features) {
  const auto* added = sum.store->value.as<AddNode>();
  const auto* term = added && is<BufferLoadNode>(added->a) ? added->b.as<MulNode>() : nullptr;
  const BufferLoadNode *a = term ? converted_load(term->a) : nullptr,
                       *b = term ? converted_load(term->b) : nullptr;
  if (!a || !b || a->indices.empty() || b->indices.empty()) return std::nullopt;
  const Var& column_var = sum.block->iter_vars[column_axis]->var;
  const bool is_column_first = along(b->buffer, b->indices, column_var) == Along::kStays;
  DotSum dot;
  dot.row = is_column_first ? b : a;
  dot.column = is_column_first ? a : b;
  const DataType row = dot.row->dtype, column = dot.column->dtype, total = sum.output()->dtype;
  if (dot.row->buffer == dot.column->buffer ||  // a copy in groups would be read by both
      along(dot.row->buffer, dot.row->indices, column_var) != Along::kStays ||
      total != (row.is_bfloat16() ? kFloat32 : kInt32) || !has_instruction(row, column, features))
    return std::nullopt;
  dot.group = 32 / row.bits;
  const std::optional<size_t> axis = group_axis(sum, dot.row, dot.group);
  if (!axis) return std::nullopt;
  dot.axis = *axis;
  const Var& var = sum.block->iter_vars[*axis]->var;
  dot.is_grouped = is_in_groups(dot.column, var, dot.group);
  if (!dot.is_grouped && (!is_once_an_index(dot.column, var) || !is_once_an_index(dot.column, column_var)))
    return std::nullopt;
  const int64_t num_columns = sum.extent(column_axis);
  dot.lanes = features.vector_bytes / 4;
  while (dot.lanes >= kMinLanes && num_columns % dot.lanes != 0) dot.lanes /= 2;
  if (num_columns == 0 || dot.lanes < kMinLanes) return std::nullopt;
  dot.intrinsic =
      DotIntrinsic{dot.lanes, dot.group, row.str(), column.str(), total.str(), is_column_first}.name();
  return dot;
}

}  // namespace tilewright::schedule
