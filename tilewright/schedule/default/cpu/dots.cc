#include "tilewright/schedule/default/cpu/dots.h"

#include <algorithm>

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

// The load that `value` converts to the dtype of the sum; null if it is something else.
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

// The same of an axis that is a single group: [..., column, axis] or [..., column % n, axis].
bool is_one_group(const BufferLoadNode* load, const Var& axis, const Var& column, int64_t group) {
  const size_t ndim = load->indices.size();
  if (ndim < 2 || !is_axis(load->indices.back(), axis) || !is_const_int(load->buffer->shape.back(), group))
    return false;
  const PrimExpr& before = load->indices[ndim - 2];
  const auto* part = before.as<FloorModNode>();
  return is_axis(part ? part->a : before, column);
}

bool is_once_an_index(const BufferLoadNode* load, const Var& axis) {
  return std::count_if(load->indices.begin(), load->indices.end(),
                       [&](const PrimExpr& index) { return is_axis(index, axis); }) == 1;
}

// The axis whose terms one instruction adds by groups.
OrReason<size_t> group_axis(const BlockShape& sum, const BufferLoadNode* row, int64_t group) {
  std::optional<size_t> nearly;  // but for its extent
  for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis) {
    const IterVar& each = sum.block->iter_vars[axis];
    if (each->iter_type != IterType::kReduce ||
        along(row->buffer, row->indices, each->var) != Along::kContiguous)
      continue;
    if (sum.extent(axis) > 0 && sum.extent(axis) % group == 0) return axis;
    nearly = axis;
  }
  if (!nearly)
    return Reason(Reason::kForm, "neighbours along no axis that is summed are neighbours in {}",
                  row->buffer->name);
  if (sum.extent(*nearly) == 0) return open_extent(sum, *nearly);
  return partly_filled(sum, *nearly, "terms", group, "groups");
}

// The lanes of the widest vectors that all columns fill.
OrReason<int64_t> whole_lanes(const BlockShape& sum, size_t column_axis, const Features& features) {
  const int64_t num_columns = sum.extent(column_axis);
  if (num_columns == 0) return open_extent(sum, column_axis);
  int64_t lanes = features.vector_bytes / 4;
  while (lanes >= kMinLanes && num_columns % lanes != 0) lanes /= 2;
  if (lanes < kMinLanes) return partly_filled(sum, column_axis, "columns", kMinLanes, "vectors");
  return lanes;
}

}  // namespace

OrReason<DotSum> dot_sum(const BlockShape& sum, size_t column_axis, const Features& features) {
  const auto* added = sum.store->value.as<AddNode>();
  const auto* term = added && is<BufferLoadNode>(added->a) ? added->b.as<MulNode>() : nullptr;
  const BufferLoadNode *a = term ? converted_load(term->a) : nullptr,
                       *b = term ? converted_load(term->b) : nullptr;
  if (!a || !b || a->indices.empty() || b->indices.empty())
    return Reason(Reason::kOther, "it does not add products of two operands that are converted first");
  const Var& column_var = sum.block->iter_vars[column_axis]->var;
  const bool is_column_first = along(b->buffer, b->indices, column_var) == Along::kStays;
  DotSum dot;
  dot.row = is_column_first ? b : a;
  dot.column = is_column_first ? a : b;
  const DataType row = dot.row->dtype, column = dot.column->dtype, total = sum.output()->dtype;
  if (total != (row.is_bfloat16() ? kFloat32 : kInt32) || !has_instruction(row, column, features))
    return Reason(Reason::kOther, "the machine has no instruction that adds products of {} and {} to {}",
                  row.str(), column.str(), total.str());
  if (dot.row->buffer == dot.column->buffer)  // a copy in groups would be read by both
    return Reason(Reason::kForm, "both factors are read from {}", dot.row->buffer->name);
  if (along(dot.row->buffer, dot.row->indices, column_var) != Along::kStays)
    return Reason(Reason::kForm, "both factors change along axis {}, which is that of its vectors",
                  axis_name(sum, column_axis));
  dot.group = 32 / row.bits;
  const OrReason<size_t> axis = group_axis(sum, dot.row, dot.group);
  if (!axis) return axis.reason();
  dot.axis = *axis;
  const Var& var = sum.block->iter_vars[*axis]->var;
  dot.is_grouped =
      is_in_groups(dot.column, var, dot.group) || is_one_group(dot.column, var, column_var, dot.group);
  if (!dot.is_grouped && (!is_once_an_index(dot.column, var) || !is_once_an_index(dot.column, column_var)))
    return Reason(Reason::kForm, "{} is not read at one index that is axis {} and one that is axis {}",
                  dot.column->buffer->name, axis_name(sum, *axis), axis_name(sum, column_axis));
  const OrReason<int64_t> lanes = whole_lanes(sum, column_axis, features);
  if (!lanes) return lanes.reason();
  dot.lanes = *lanes;
  dot.intrinsic =
      DotIntrinsic{dot.lanes, dot.group, row.str(), column.str(), total.str(), is_column_first}.name();
  return dot;
}

}  // namespace tilewright::schedule
