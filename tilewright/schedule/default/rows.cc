#include "tilewright/schedule/default/rows.h"

#include <algorithm>

#include "tilewright/arith/analyzer.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/text.h"

namespace tilewright::schedule {

std::vector<size_t> spatial_axes(const BlockShape& shape) {
  std::vector<size_t> axes;
  for (size_t axis = 0; axis < shape.block->iter_vars.size(); ++axis) {
    const IterVar& var = shape.block->iter_vars[axis];
    if (var->iter_type == IterType::kSpatial && !is_one(var->dom->extent)) axes.push_back(axis);
  }
  return axes;
}

bool is_contiguous_alone(const BlockShape& sum, size_t axis) {
  bool is_contiguous = false;
  for (const BufferLoadNode* load : sum.loads) {
    const Along moves = along(sum, load, axis);
    if (moves == Along::kStrided) return false;
    is_contiguous |= moves == Along::kContiguous;
  }
  return is_contiguous;
}

namespace {

// True if the first dimensions of an access, but for those of extent 1, are the rows of `shape`.
bool begins_with_rows(const BlockShape& shape, const Buffer& buffer, const std::vector<PrimExpr>& indices,
                      const std::vector<size_t>& axes, size_t num_rows) {
  size_t row = 0;
  for (size_t dim = 0; dim < indices.size() && row < num_rows; ++dim) {
    if (is_one(buffer->shape[dim])) continue;
    if (indices[dim].as<VarNode>() != shape.block->iter_vars[axes[row]]->var.get()) return false;
    ++row;
  }
  return row == num_rows;
}

}  // namespace

std::optional<Reason> why_other_rows(const BlockShape& shape, const BlockShape& last, size_t num_rows,
                                     const std::vector<BlockShape>& shapes) {
  const std::vector<size_t> axes = spatial_axes(shape), last_axes = spatial_axes(last);
  const std::string &block = shape.block->name_hint, &last_block = last.block->name_hint;
  for (const auto& [name, count] : {std::pair(block, axes.size()), std::pair(last_block, last_axes.size())}) {
    if (count < num_rows)
      return Reason(Reason::kForm, "block {} has {} axes of several values, and rows that are reduced {}",
                    name, count, num_rows);
  }
  if (!begins_with_rows(shape, shape.output(), shape.store->indices, axes, num_rows))
    return Reason(Reason::kForm, "the first indices of {}, which block {} stores, are not its first axes",
                  shape.output()->name, block);
  arith::Analyzer analyzer;
  for (size_t row = 0; row < num_rows; ++row) {
    const PrimExpr &extent = shape.block->iter_vars[axes[row]]->dom->extent,
                   &last_extent = last.block->iter_vars[last_axes[row]]->dom->extent;
    if (!analyzer.can_prove_equal(extent, last_extent))
      return Reason(Reason::kForm, "axis {} of block {} has {} values, and axis {} of block {} has {}",
                    axis_name(shape, axes[row]), block, expr_text(extent), axis_name(last, last_axes[row]),
                    last_block, expr_text(last_extent));
  }
  for (const BufferLoadNode* load : shape.loads) {
    const bool is_made_here = std::any_of(shapes.begin(), shapes.end(), [&](const BlockShape& other) {
      return other.output() == load->buffer;
    });
    if (is_made_here && !begins_with_rows(shape, load->buffer, load->indices, axes, num_rows))
      return Reason(Reason::kForm, "block {} reads other rows of {} than its own", block, load->buffer->name);
  }
  return std::nullopt;
}

}  // namespace tilewright::schedule
