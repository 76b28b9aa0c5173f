// How a sum is cut into register tiles.
#pragma once
#include "tilewright/schedule/default/register_tile.h"
#include "tilewright/schedule/default/shape.h"

namespace tilewright::schedule {

/// What tile_sum decides before it changes anything.
struct SumPlan {
  size_t column = 0;                // axis of the vectors
  std::optional<size_t> row;        // axis along which vectors are reused
  std::optional<size_t> outer_row;  // another one, if the first is short: then a tile takes all of `row`
  RegisterTile tile;
  int64_t rows = 1, outer_rows = 1;        // along both axes; their product is tile.rows
  std::vector<size_t> shared;              // outer axes that the vector operands depend on
  std::vector<size_t> others;              // outer axes that they do not depend on
  std::vector<size_t> steps;               // axes of the loops around a tile of sums, outermost first
  const BufferLoadNode* packed = nullptr;  // the operand that is copied panel by panel
  const BufferLoadNode* spread = nullptr;  // the one whose rows would push each other out of the cache
  int64_t panel_width() const { return tile.vectors * tile.lanes; }
};

/// Nothing if `sum` is none that vectors of results suit.
std::optional<SumPlan> plan_sum(const BlockShape& sum, const Machine& machine);

/// A matrix that tiles read in panels of `width` columns.
struct Panels {
  tir::Buffer buffer;
  int64_t width;
};
/// The operand of `sum` that is better stored as [columns / width, ..., width] if its layout is free, as that
/// of weights is: tiles then read memory from one end to the other.  Nothing if there is none, or if it is so
/// small that it stays near the core anyway.
std::optional<Panels> wanted_panels(const BlockShape& sum, const Machine& machine);
/// A[..., row, ..., k]  ->  A[..., k // line, row, ..., k % line]: rows are neighbours in memory.
tir::IndexMap line_map(const BlockShape& sum, const SumPlan& plan);
/// B[..., j]  ->  B[j // width, ..., j % width], where j is the last dimension of an extent other than 1.
tir::IndexMap panel_map(const tir::Buffer& buffer, int64_t width);

}  // namespace tilewright::schedule
