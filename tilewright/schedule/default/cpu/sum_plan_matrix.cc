// Plan of a sum, part matrix tiles, which instructions multiply as a whole (AMX): their shape, how many are
// kept in registers, and blocks that stay in L1 and L2.  None where extents do not divide into them.
#include <algorithm>

#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/default/cpu/panels.h"
#include "tilewright/schedule/default/cpu/row_split.h"
#include "tilewright/schedule/default/cpu/tile_sum.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/loop_hints.h"
#include "tilewright/tir/matrix_tile_shape.h"

namespace tilewright::schedule {
namespace {

// Shares eight tile registers among sums and factors in the way with the fewest loads for each product.
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

// The bytes of a panel of `width` columns of the operand that is read in panels.
int64_t panel_bytes_of(const BlockShape& sum, const SumPlan& plan, int64_t width) {
  int64_t bytes = product(plan.dot->column->dtype.num_bytes(), width);
  for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis) {
    if (axis == plan.column || along(sum, plan.dot->column, axis) == Along::kStays) continue;
    if (sum.block->iter_vars[axis]->iter_type == IterType::kReduce) bytes = product(bytes, sum.extent(axis));
  }
  return std::min(
      bytes, sum.num_bytes(plan.dot->column->buffer) / std::max<int64_t>(1, sum.extent(plan.column)) * width);
}

// The bytes of a row, all its terms, of the operand that is read in rows.
int64_t row_bytes_of(const BlockShape& sum, const SumPlan& plan) {
  const BufferLoadNode* load = plan.dot->row;
  int64_t bytes = load->dtype.num_bytes();
  for (size_t dim = 0; dim < load->indices.size(); ++dim) {
    bool is_of_terms = true;
    int64_t extent = 0;
    for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis)
      is_of_terms &=
          !is_spatial(sum, axis) || !uses(load->indices[dim], sum.block->iter_vars[axis]->var.get());
    if (is_of_terms && as_const_int(load->buffer->shape[dim], &extent)) bytes = product(bytes, extent);
  }
  return std::max<int64_t>(1, bytes);
}

// The rows of a block, and of how many panels it has sums.
void choose_rows_and_panels(const BlockShape& sum, SumPlan& plan, int64_t row_tiles, int64_t column_tiles,
                            const Features& features) {
  const MatrixTile& tile = *plan.matrix;
  const int64_t height = tile.down * tile.rows, kept_rows = features.l2_bytes / 2 / row_bytes_of(sum, plan),
                most_rows = kept_rows < kTileCosts.block_least_rows
                                ? kTileCosts.block_rows
                                : std::min(kTileCosts.block_rows, kept_rows);
  plan.tile.rows = height * divisor_up_to(row_tiles / tile.down, std::max<int64_t>(1, most_rows / height));
  if (kept_rows >= kTileCosts.block_least_rows) return;
  // L2 keeps few rows with all their terms, but parts of many rows, and sums of many panels
  const int64_t panels = column_tiles / tile.across,
                panel_bytes = 4 * plan.tile.rows * tile.across * plan.tile.lanes;
  int64_t most_panels = std::max<int64_t>(1, features.l2_bytes / 4 / panel_bytes);
  if (features.num_cores > 1)  // each thread has some
    most_panels = std::clamp<int64_t>(panels / (2 * features.num_cores), 1, most_panels);
  plan.tile.vectors = tile.across * divisor_up_to(panels, most_panels);
}

// True if several tiles of rows read a panel one after the other.
bool are_rows_many(const BlockShape& sum, const SumPlan& plan, int64_t row_tiles) {
  return row_tiles > plan.matrix->down || std::any_of(plan.others.begin(), plan.others.end(),
                                                      [&](size_t axis) { return sum.extent(axis) != 1; });
}

// The last axis of which both rows and sums have one element after the other: rows of images.
std::optional<size_t> image_axis(const BlockShape& sum, const SumPlan& plan) {
  for (size_t n = plan.others.size(); n-- > 0;) {
    const size_t axis = plan.others[n];
    if (sum.extent(axis) > 1 && stride_bytes(sum, plan.dot->row, axis)) return axis;
  }
  return std::nullopt;
}

// A tile takes `count` rows of images.
void take_images(SumPlan& plan, size_t axis, int64_t count) {
  plan.outer_row = axis;
  plan.outer_rows = count;
  std::erase(plan.others, axis);
}

// How many rows of images, of which each is a tile, L2 keeps beside panels; not more than a thread has, where
// rows are shared out.
int64_t num_kept_images(const BlockShape& sum, const SumPlan& plan, size_t axis, const Features& features) {
  const RowSplit parts = split_of_rows(sum, plan, operands_of(sum, plan), features.num_cores > 1, features);
  const int64_t bytes = product(row_bytes_of(sum, plan), sum.extent(*plan.row)),
                most = std::min(features.l2_bytes / 2 / bytes, sum.extent(axis) / parts.least),
                in_registers = plan.matrix->outer;
  return in_registers *
         divisor_up_to(sum.extent(axis) / in_registers, std::max<int64_t>(1, most / in_registers));
}

// A panel that does not stay in L1 is read in parts, each by some rows of tiles, whose sums then wait in L2.
// Unless a block had one tile of rows, or parts had so few products that sums came and went all the time.
void choose_block(const BlockShape& sum, SumPlan& plan, int64_t row_tiles, int64_t column_tiles,
                  const Features& features) {
  MatrixTile& tile = *plan.matrix;
  const int64_t terms = sum.extent(plan.dot->axis), step = tile.groups * plan.dot->group,
                width = tile.across * plan.tile.lanes, products = tile.down * tile.across * tile.outer,
                panel_bytes = panel_bytes_of(sum, plan, width), near_bytes = features.l1_bytes * 5 / 6;
  tile.terms = terms;
  tile.is_row_streamed = are_rows_many(sum, plan, row_tiles);
  if (panel_bytes <= near_bytes) return;
  const int64_t steps = divisor_up_to(
      terms / step, std::max<int64_t>(1, near_bytes / std::max<int64_t>(1, panel_bytes / (terms / step))));
  if (product(steps * products, std::max<int64_t>(1, num_steps(sum) / terms)) < kTileCosts.block_products)
    return;
  const std::optional<size_t> images = row_tiles > 1    ? std::nullopt
                                       : plan.outer_row ? plan.outer_row
                                                        : image_axis(sum, plan);
  if (images) {
    const int64_t kept = num_kept_images(sum, plan, *images, features);
    if (kept <= tile.outer) return;
    take_images(plan, *images, kept);
  } else {
    if (row_tiles <= tile.down) return;
    choose_rows_and_panels(sum, plan, row_tiles, column_tiles, features);
  }
  tile.terms = steps * step;
}

// True if both operands move along an axis of the sum in no constant steps, as over parts of numbers.  Inside
// of all others, its iterations share what is in registers.
bool moves_unevenly(const BlockShape& sum, const DotSum& dot, size_t axis) {
  const Var& var = sum.block->iter_vars[axis]->var;
  const auto jumps = [&](const BufferLoadNode* load) {
    int64_t step = 0;
    return std::any_of(load->indices.begin(), load->indices.end(),
                       [&](const PrimExpr& index) { return !as_const_int(step_along(index, var), &step); });
  };
  return jumps(dot.row) && jumps(dot.column);
}

// The reason where an axis divides into tiles that fill too little of a register: 17 rows into tiles of one.
Reason why_not_filled(const BlockShape& sum, size_t axis, std::string_view what, int64_t extent, int64_t most,
                      int64_t least) {
  const int64_t size = divisor_up_to(extent, most);
  return Reason(
      Reason::kTooSmall,
      "the {} {} of axis {} divide into tiles of {}, which fill {} of a register, and {} must be filled",
      extent, what, axis_name(sum, axis), size, share_text(size, most), least);
}

// The reason why instructions for whole tiles do not multiply those of the sum.
std::optional<Reason> why_no_matrix_tile(const BlockShape& sum, const SumPlan& plan,
                                         const Features& features) {
  if (!plan.dot) return Reason(Reason::kOther, "no instruction adds its products by groups");
  if (!(sum.output()->dtype.is_float() ? features.dots.bfloat_tiles : features.dots.byte_tiles))
    return Reason(Reason::kOther, "the machine has no registers for tiles of {}", plan.dot->row->dtype.str());
  if (!plan.row) return Reason(Reason::kForm, "it has one row");
  if (sum.num_instances() < kTileCosts.matrix_work)
    return Reason(Reason::kTooSmall,
                  "it has {} multiply-adds, fewer than the {} for which tile registers pay",
                  sum.num_instances(), kTileCosts.matrix_work);
  const int64_t rows = sum.extent(*plan.row), columns = sum.extent(plan.column),
                groups = sum.extent(plan.dot->axis) / plan.dot->group;
  if (rows == 0) return open_extent(sum, *plan.row);
  if (columns % kTileColumns != 0) return partly_filled(sum, plan.column, "columns", kTileColumns, "tiles");
  if (divisor_up_to(rows, kMostTileRows) < kLeastTileRows)
    return why_not_filled(sum, *plan.row, "rows", rows, kMostTileRows, kLeastTileRows);
  if (!fills_matrix_tiles(rows, columns, groups))
    return why_not_filled(sum, plan.dot->axis, "groups of terms", groups, kMostTileGroups, kLeastTileGroups);
  if (!stride_bytes(sum, plan.dot->row, *plan.row))
    return Reason(Reason::kForm, "rows along axis {} lie at no fixed distance in {}",
                  axis_name(sum, *plan.row), plan.dot->row->buffer->name);
  return std::nullopt;
}

}  // namespace

void choose_matrix_tile(const BlockShape& sum, SumPlan& plan, const Features& features) {
  if (const std::optional<Reason> why = why_no_matrix_tile(sum, plan, features)) {
    plan.matrix = *why;
    return;
  }
  const int64_t rows = sum.extent(*plan.row), columns = sum.extent(plan.column),
                groups = sum.extent(plan.dot->axis) / plan.dot->group;
  MatrixTile tile{.rows = divisor_up_to(rows, kMostTileRows),
                  .groups = divisor_up_to(groups, kMostTileGroups)};
  const int64_t row_tiles = rows / tile.rows;
  const std::optional<size_t> images = row_tiles == 1 ? image_axis(sum, plan) : std::nullopt;
  const bool is_even = images && sum.extent(*images) % 2 == 0;
  share_tile_registers(tile, is_even ? 2 * row_tiles : row_tiles, columns / kTileColumns);
  if (is_even && tile.down == 2) {
    tile.down = 1, tile.outer = 2;
    take_images(plan, *images, 2);
  }
  plan.matrix = tile;
  plan.tile = {.rows = tile.down * tile.rows, .vectors = tile.across, .lanes = kTileColumns};
  choose_block(sum, plan, row_tiles, columns / kTileColumns, features);
  plan.rows = plan.tile.rows;
}

void compute_matrix_sum(Schedule& sch, const BlockShape& sum, LoopRef place, const SumPlan& plan) {
  steps::compute_at(sch, sum.ref, place);
  const std::vector<LoopRef> inside = loops_inside(sch, sum.ref, place);
  const auto parts_of = [&](size_t axis, const Factors& factors) {
    const std::vector<LoopRef> loops = loops_of_axis(sch, sum.ref, axis, inside);
    TILEWRIGHT_CHECK(loops.size() == 1, "an axis of block {} has {} loops", sum.block->name_hint,
                     loops.size());
    return steps::split(sch, loops[0], factors);
  };
  const MatrixTile& tile = *plan.matrix;
  const int64_t step = tile.groups * plan.dot->group;
  const std::vector<LoopRef> terms =
      parts_of(plan.dot->axis, {None{}, tile.terms / step, tile.groups, plan.dot->group});
  std::vector<LoopRef> images;  // rows of an image: those of a block, those in registers
  if (plan.outer_row) images = parts_of(*plan.outer_row, {None{}, tile.outer});
  const std::vector<LoopRef> rows = parts_of(*plan.row, {None{}, tile.down, tile.rows}),
                             columns = parts_of(plan.column, {None{}, tile.across, plan.tile.lanes});
  const bool is_block = extent_of(sch, terms[0]) > 1;
  std::vector<LoopRef> order;
  if (is_block) order = {terms[0], columns[0]};
  if (is_block && plan.outer_row) order.push_back(images[0]);
  if (is_block) order.push_back(rows[0]);
  const size_t nest = order.size();
  std::vector<LoopRef> uneven;
  for (size_t axis : plan.steps) {
    const std::vector<LoopRef> loops =
        axis == plan.dot->axis ? std::vector{terms[1]} : loops_of_axis(sch, sum.ref, axis, inside);
    std::vector<LoopRef>& list = moves_unevenly(sum, *plan.dot, axis) ? uneven : order;
    list.insert(list.end(), loops.begin(), loops.end());
  }
  order.insert(order.end(), uneven.begin(), uneven.end());
  const LoopRef first = order[0];
  if (plan.outer_row) order.push_back(images[1]);
  order.insert(order.end(), {rows[1], columns[1], rows[2], columns[2], terms[2], terms[3]});
  steps::reorder(sch, order);
  const BlockRef init = steps::decompose_reduction(sch, sum.ref, first);
  steps::vectorize(sch, loops_inside(sch, init, place).back());
  const auto outermost = std::find_if(order.begin() + static_cast<std::ptrdiff_t>(nest), order.end(),
                                      [&](LoopRef loop) { return extent_of(sch, loop) > 1; });
  steps::annotate(sch, *outermost, kMatrixTiles, bool_imm(true));
  if (plan.next_panel) {
    steps::annotate(sch, *outermost, kPrefetchPanel, imm(plan.next_panel->distance));
    constexpr size_t kFirstRows = 2;  // of a block: after terms and columns
    for (size_t n = kFirstRows; n < nest; ++n) {
      const int64_t iterations = extent_of(sch, order[n]);
      if (iterations > 1) steps::annotate(sch, order[n], kPanelIterations, imm(iterations));
    }
  }
  if (tile.is_row_streamed) steps::annotate(sch, *outermost, kStreamRows, bool_imm(true));
}

}  // namespace tilewright::schedule
