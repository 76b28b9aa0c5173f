// Which tiles of a sum the instructions for whole tiles (AMX) multiply: their shape, how many are kept in
// registers, and blocks that stay in the first and second cache.  Nothing where extents do not divide so.
#include <algorithm>

#include "tilewright/schedule/default/sum_plan.h"

namespace tilewright::schedule {
namespace {

// The largest divisor of `extent` up to `most`.
int64_t divisor_up_to(int64_t extent, int64_t most) {
  int64_t divisor = std::min(extent, most);
  while (divisor > 1 && extent % divisor != 0) --divisor;
  return divisor;
}

// Of the ways to share eight tile registers among sums and factors the one with the fewest loads for each
// product.
void share_tile_registers(MatrixTile& tile, int64_t row_tiles, int64_t column_tiles) {
  constexpr int64_t kRegisters = 8;
  double least_loads = 0;
  for (int64_t down = 1; down <= kRegisters; ++down) {
    for (int64_t across = 1; down * across + down + across <= kRegisters; ++across) {
      if (row_tiles % down != 0 || column_tiles % across != 0) continue;
      const double loads = static_cast<double>(down + across) / static_cast<double>(down * across);
      if (least_loads != 0 && loads >= least_loads) continue;
      least_loads = loads;
      tile.down = down, tile.across = across;
    }
  }
}

// A panel that does not stay in the first cache is read in parts, each by some rows of tiles, whose sums then
// wait in the second cache: a block of sums takes a quarter of it, the panels of its columns half.
void choose_block(const BlockShape& sum, SumPlan& plan, int64_t row_tiles, int64_t column_tiles,
                  const Machine& machine) {
  constexpr int64_t kMostRows = 128;
  MatrixTile& tile = *plan.matrix;
  const int64_t lanes = plan.tile.lanes, terms = sum.extent(plan.dot->axis),
                step = tile.groups * plan.dot->group, panel_bytes = tile.across * lanes * 4 / plan.dot->group;
  tile.terms = terms;
  if (terms * panel_bytes <= machine.l1_bytes * 2 / 3 || num_steps(sum) != terms) return;
  tile.terms =
      step * divisor_up_to(terms / step, std::max<int64_t>(1, machine.l1_bytes * 2 / 3 / panel_bytes / step));
  const int64_t height = tile.down * tile.rows, width = tile.across * lanes,
                rows =
                    height * divisor_up_to(row_tiles / tile.down, std::max<int64_t>(1, kMostRows / height)),
                most_columns = std::min(machine.l2_bytes / 4 / (4 * rows),
                                        machine.l2_bytes / 2 / (terms * 4 / plan.dot->group));
  const int64_t panels = column_tiles / tile.across, blocks_of_rows = sum.extent(*plan.row) / rows;
  int64_t most_panels = std::max<int64_t>(1, most_columns / width);
  // each thread has some
  if (machine.num_cores > 1)
    most_panels = std::clamp<int64_t>(panels * blocks_of_rows / (2 * machine.num_cores), 1, most_panels);
  plan.tile.rows = rows;
  plan.tile.vectors = tile.across * divisor_up_to(panels, most_panels);
}

}  // namespace

bool choose_matrix_tile(const BlockShape& sum, SumPlan& plan, const Machine& machine) {
  constexpr int64_t kMostRows = 16, kColumns = 16;
  constexpr int64_t kLeastRows = 6, kLeastGroups = 4;  // else too little of a register is used
  constexpr int64_t kLeastWork = 1 << 15;
  const bool has_tiles =
      plan.dot && (sum.output()->dtype.is_float() ? machine.dots.bfloat_tiles : machine.dots.byte_tiles);
  if (!has_tiles || !plan.row || sum.num_instances() < kLeastWork) return false;
  const int64_t rows = sum.extent(*plan.row), columns = sum.extent(plan.column),
                groups = sum.extent(plan.dot->axis) / plan.dot->group;
  if (rows == 0 || columns % kColumns != 0 || !stride_bytes(sum, plan.dot->row, *plan.row)) return false;
  MatrixTile tile{.rows = divisor_up_to(rows, kMostRows), .groups = divisor_up_to(groups, kMostRows)};
  if (tile.rows < kLeastRows || tile.groups < kLeastGroups) return false;
  share_tile_registers(tile, rows / tile.rows, columns / kColumns);
  plan.matrix = tile;
  plan.tile = {.rows = tile.down * tile.rows, .vectors = tile.across, .lanes = kColumns};
  choose_block(sum, plan, rows / tile.rows, columns / kColumns, machine);
  plan.rows = plan.tile.rows;
  return true;
}

}  // namespace tilewright::schedule
