#include "tilewright/schedule/default/cpu/transpose.h"

#include "tilewright/schedule/core/loops.h"
#include "tilewright/tir/uses.h"

namespace tilewright::schedule {
namespace {

// The place of the index that `axis` counts, if it is in no other.
std::optional<size_t> place_of(const std::vector<PrimExpr>& indices, const Var& axis) {
  std::optional<size_t> place;
  for (size_t n = 0; n < indices.size(); ++n) {
    if (!uses(indices[n], axis.get())) continue;
    if (place || !is_one(step_along(indices[n], axis))) return std::nullopt;
    place = n;
  }
  return place;
}

}  // namespace

std::optional<TransposedTile> transposed_tile(const BlockShape& shape, size_t row_axis, size_t column_axis,
                                              int64_t size) {
  const auto* load = shape.store->value.as<BufferLoadNode>();
  if (!load || shape.is_reduction() || size < kLeastTransposed || size > kMostTransposed ||
      shape.extent(row_axis) % size != 0 || shape.extent(column_axis) % size != 0 ||
      shape.extent(row_axis) == 0 || shape.extent(column_axis) == 0)
    return std::nullopt;
  const Var &row = shape.block->iter_vars[row_axis]->var, &column = shape.block->iter_vars[column_axis]->var;
  const auto to_row = place_of(shape.store->indices, row), to_column = place_of(shape.store->indices, column),
             from_row = place_of(load->indices, row), from_column = place_of(load->indices, column);
  const size_t to_last = shape.store->indices.size() - 1, from_last = load->indices.size() - 1;
  if (to_column != to_last || from_row != from_last || !to_row || !from_column) return std::nullopt;
  const TransposedTile tile{size, load->dtype.str(), static_cast<int64_t>(from_last - *from_column - 1),
                            static_cast<int64_t>(to_last - *to_row - 1), column_axis < row_axis};
  return transpose_intrinsic(tile.name()) ? std::optional(tile) : std::nullopt;
}

}  // namespace tilewright::schedule
