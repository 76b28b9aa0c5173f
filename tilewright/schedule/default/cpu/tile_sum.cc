// Rule tile_sum: register tiles for sums, as their plan (sum_plan.h) says.
//
//   for i, j, k: C[i, j] += A[i, k] * B[k, j]
//
// becomes
//
//   for jo: B_packed = B[:, jo]
//     for io: C_local[8, 32] = 0
//       for k: C_local[ii, jn, jv] += A[io * 8 + ii, k] * B_packed[jo, k, jn, jv]
//       C[io, jo] = C_local
//
// The epilogue is tiled first; the sum, and then its packed operand, are computed where they are used.
#include "tilewright/schedule/default/cpu/tile_sum.h"
#include <algorithm>
#include <bit>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/default/cpu/epilogue.h"
#include "tilewright/schedule/default/cpu/packed_rows.h"
#include "tilewright/schedule/default/cpu/panels.h"
#include "tilewright/schedule/default/cpu/row_split.h"
#include "tilewright/schedule/default/cpu/rules.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/loop_hints.h"

namespace tilewright::schedule {
namespace {

// The tile's loops of the block that stores results.
struct TileLoops {
  std::vector<LoopRef> outer;   // the last is where the sum is computed
  size_t num_before_rows = 0;   // of them before loops over rows, the last over panels unless that is inside
  std::optional<size_t> chunk;  // the one over parts of rows, each of which takes all panels
};

// True if a tile of rows takes all panels before the next one does: rows or results that L2 does not hold,
// and what is added to them, then pass by once, line after line, and panels stay near.
bool are_panels_inside(const BlockShape& sum, const SumPlan& plan, const Operands& operands,
                       const BlockShape& target, const Features& features) {
  constexpr int64_t kWordBytes = 4;  // of numbers that operands are counted in
  const int64_t near_bytes = plan.matrix ? 2 * features.l1_bytes : features.l2_bytes / 4;
  const int64_t far_bytes = features.l2_bytes / 2;
  const bool are_rows_far =
      !plan.dot && has_several_panels(sum, plan) && operands.of_rows > far_bytes / kWordBytes;
  const int64_t wish = sum.planned("panels_inside", kByRules);
  if (wish != kByRules) return wish == 1 && !plan.packed && !plan.next_panel;
  return !plan.packed && !plan.next_panel &&
         (are_rows_far || target.num_bytes(target.output()) > far_bytes) &&
         operands.fixed <= near_bytes / kWordBytes;
}

TileLoops tile_epilogue(Schedule& sch, const BlockShape& target, const AxisMap& map, const SumPlan& plan,
                        std::optional<LoopRef> within, const RowSplit& row_parts, bool has_panels_inside) {
  TileLoops result;
  std::vector<LoopRef> all = loops_inside(sch, target.ref, within), used;
  auto loop_of = [&](size_t axis) -> std::optional<LoopRef> {
    if (!map[axis]) return std::nullopt;
    const std::vector<LoopRef> loops = loops_of_axis(sch, target.ref, *map[axis], all);
    return loops.empty() ? std::nullopt : std::optional(loops[0]);
  };
  const auto column = loop_of(plan.column);
  TILEWRIGHT_CHECK(column, "the column axis of block {} has no loop", target.block->name_hint);
  auto take = [&](size_t axis) {
    if (const auto loop = loop_of(axis)) result.outer.push_back(*loop), used.push_back(*loop);
  };
  for (size_t axis : plan.shared) take(axis);
  const auto row = plan.row ? loop_of(*plan.row) : std::nullopt;
  const auto outer_row = plan.outer_row ? loop_of(*plan.outer_row) : std::nullopt;
  used.push_back(*column);
  if (row) used.push_back(*row);
  if (outer_row) used.push_back(*outer_row);
  for (size_t axis : plan.others) {
    if (const auto loop = loop_of(axis)) used.push_back(*loop);
  }
  // axes that only the epilogue has stay outermost
  std::vector<LoopRef> rest;
  for (LoopRef loop : all) {
    const bool is_used =
        std::any_of(used.begin(), used.end(), [&](LoopRef other) { return is_same(sch, loop, other); });
    if (!is_used) rest.push_back(loop);
  }
  result.outer.insert(result.outer.begin(), rest.begin(), rest.end());
  std::vector<LoopRef> columns = steps::split(sch, *column, {None{}, plan.tile.vectors, plan.tile.lanes});
  std::optional<LoopRef> panel_of_copy;
  if (plan.copied_panels > 1) {
    const auto panels = steps::split(sch, columns[0], {None{}, plan.copied_panels});
    columns[0] = panels[0], panel_of_copy = panels[1];
  }
  if (!has_panels_inside) result.outer.push_back(columns[0]);
  result.num_before_rows = result.outer.size();
  std::vector<LoopRef> inner;
  std::optional<LoopRef> chunk;
  auto divide = [&](LoopRef loop) {
    const int64_t count = chunk ? 1 : num_parts(row_parts, extent_of(sch, loop));
    if (count < 2) return loop;
    const std::vector<LoopRef> parts = steps::split(sch, loop, {count, None{}});
    chunk = parts[0];
    return parts[1];
  };
  auto split_rows = [&](LoopRef loop, int64_t count) {
    const std::vector<LoopRef> rows = steps::split(sch, loop, {None{}, count});
    result.outer.push_back(divide(rows[0]));
    inner.push_back(rows[1]);
  };
  for (size_t axis : plan.others) {
    if (const auto loop = loop_of(axis)) result.outer.push_back(divide(*loop));
  }
  if (outer_row) split_rows(*outer_row, plan.outer_rows);
  if (row) split_rows(*row, plan.rows);
  if (panel_of_copy) result.outer.push_back(*panel_of_copy);
  if (has_panels_inside) result.outer.push_back(columns[0]);
  inner.push_back(columns[1]);
  inner.push_back(columns[2]);
  if (chunk) {
    result.outer.insert(result.outer.begin() + static_cast<std::ptrdiff_t>(rest.size()), *chunk);
    result.chunk = rest.size();
    ++result.num_before_rows;
  }
  std::vector<LoopRef> order = result.outer;
  order.insert(order.end(), inner.begin(), inner.end());
  steps::reorder(sch, order);
  if (plan.matrix)
    steps::vectorize(sch, inner.back());
  else
    expand(sch, inner);
  return result;
}

// True if columns that are fewer than lanes become a vector with a mask.  LLVM would put 14 numbers together
// from 8, 4 and 2, and keep the other two lanes in each step (8 by 16 channels, 14 x 14 of 5 x 5 on a Zen 4:
// 22 us, with a mask 12.5).
bool needs_mask(const SumPlan& plan, int64_t num_columns) {
  return plan.has_masks && !std::has_single_bit(static_cast<uint64_t>(num_columns));
}

}  // namespace

void compute_sum(Schedule& sch, const BlockShape& sum, LoopRef place, const SumPlan& plan) {
  steps::compute_at(sch, sum.ref, place);
  const std::vector<LoopRef> inside = loops_inside(sch, sum.ref, place);
  std::vector<LoopRef> order, tile;
  std::optional<LoopRef> group, fetched;
  for (size_t axis : plan.steps) {
    for (LoopRef loop : loops_of_axis(sch, sum.ref, axis, inside)) {
      if (axis == plan.fetched) fetched = loop;
      if (!plan.dot || axis != plan.dot->axis) {
        order.push_back(loop);
        if (axis == plan.unrolled)
          steps::unroll(sch, loop);
        else if (plan.keeps_loops)
          steps::annotate(sch, loop, kKeepLoop, bool_imm(true));
        continue;
      }
      const std::vector<LoopRef> parts = steps::split(sch, loop, {None{}, plan.dot->group});
      order.push_back(parts[0]);
      if (fetched == loop) fetched = parts[0];
      group = parts[1];
    }
  }
  TILEWRIGHT_CHECK(!order.empty(), "block {} has no loop that sums", sum.block->name_hint);
  if (plan.outer_row) tile = loops_of_axis(sch, sum.ref, *plan.outer_row, inside);
  if (plan.row) {
    for (LoopRef loop : loops_of_axis(sch, sum.ref, *plan.row, inside)) tile.push_back(loop);
  }
  for (LoopRef loop : loops_of_axis(sch, sum.ref, plan.column, inside)) {
    const int64_t extent = extent_of(sch, loop);
    if (extent == plan.tile.lanes || (extent < plan.tile.lanes && !needs_mask(plan, extent))) {
      tile.push_back(loop);
      continue;
    }
    for (LoopRef part : steps::split(sch, loop, {None{}, plan.tile.lanes})) tile.push_back(part);
  }
  const LoopRef first = order[0], last = order.back();
  order.insert(order.end(), tile.begin(), tile.end());
  if (group) order.push_back(*group);
  steps::reorder(sch, order);
  const BlockRef init = steps::decompose_reduction(sch, sum.ref, first);
  expand(sch, loops_inside(sch, init, place));
  if (plan.next_panel) {
    steps::annotate(sch, last, kPrefetchPanel, imm(plan.next_panel->distance));
    steps::annotate(sch, last, kPanelRow, imm(plan.next_panel->row_bytes));
  }
  fetch_ahead(sch, fetched.value_or(last), plan.fetch_ahead);
  if (plan.few_ahead > 0) steps::annotate(sch, *fetched, kPrefetchAheadOfFew, imm(plan.few_ahead));
  if (!group) return expand(sch, tile);
  for (size_t n = 0; n + 1 < tile.size(); ++n) steps::unroll(sch, tile[n]);
}

namespace {

// Annotates each of `loops` with the number of its iterations that read the same panel.
//
// extents     of the loops as they were when loops of rows began at number `first_row`; those around have
//             been fused since, from the first of several iterations on
void mark_iterations(Schedule& sch, const SumPlan& plan, const BlockShape& sum,
                     const std::vector<LoopRef>& loops, const std::vector<int64_t>& extents,
                     size_t first_row) {
  const size_t num_merged = extents.size() - loops.size();
  size_t fused = 0;
  while (fused + 1 < loops.size() && extents[fused] == 1) ++fused;
  // a tile of fewer rows at the end is one by itself, which fetches nothing
  const auto has_rest = [&](size_t place) {
    if (place + 1 == extents.size()) return plan.row && sum.extent(*plan.row) % plan.rows != 0;
    return place + 2 == extents.size() && plan.outer_row &&
           sum.extent(*plan.outer_row) % plan.outer_rows != 0;
  };
  for (size_t n = 0; n < loops.size(); ++n) {
    const size_t begin = n <= fused ? n : n + num_merged, end = n < fused ? n : n + num_merged;
    int64_t iterations = 1;
    for (size_t place = std::max(begin, first_row); place <= end; ++place)
      iterations = product(iterations, extents[place]);
    if (iterations > 1 && begin == end && has_rest(end)) --iterations;
    if (extents[end] > 1 && end >= first_row)
      steps::annotate(sch, loops[n], kPanelIterations, imm(iterations));
  }
}

// Puts instructions in the place of the two innermost loops of a tile: lanes, and the elements of a group.
void tensorize_dots(Schedule& sch, const BlockShape& sum, const DotSum& dot) {
  const std::vector<LoopRef> loops = steps::get_loops(sch, sum.ref);
  steps::tensorize(sch, loops[loops.size() - 2], dot.intrinsic);
}

// A copy of an operand, made in vectors of `lanes`, whose dimensions `map` rearranges.
//
// place  the loop that it is made in; nothing: before everything else
void copy_operand(Schedule& sch, const BlockShape& sum, const Buffer& buffer, int64_t lanes,
                  const IndexMap& map, std::optional<LoopRef> place, const Features& features) {
  const BlockRef copy = copy_of_operand(sch, sum, buffer);
  if (place) steps::compute_at(sch, copy, *place);
  const std::vector<LoopRef> loops = loops_inside(sch, copy, place);
  if (extent_of(sch, loops.back()) > lanes) {
    steps::vectorize(sch, steps::split(sch, loops.back(), {None{}, lanes}).back());
  } else {
    steps::vectorize(sch, loops.back());
  }
  if (!place && loops.size() > 1) parallelize(sch, loops, loops.size() - 1, features);
  steps::transform_layout(sch, copy, steps::written_buffer(0), map);
}

// The innermost of `loops` around all panels that has several iterations; nothing if there is none.
std::optional<LoopRef> loop_around_panels(const Schedule& sch, const BlockShape& target, size_t column,
                                          const std::vector<LoopRef>& loops) {
  const std::vector<LoopRef> of_panels = loops_of_axis(sch, target.ref, column, loops);
  std::optional<LoopRef> found;
  for (const LoopRef loop : loops) {
    if (!of_panels.empty() && is_same(sch, loop, of_panels[0])) break;
    if (extent_of(sch, loop) != 1) found = loop;
  }
  return found;
}

}  // namespace

BlockRef copy_of_operand(Schedule& sch, const BlockShape& sum, const Buffer& buffer) {
  const auto& reads = sch.state().node(sch.state()[sum.ref]).block()->reads;
  int64_t index = 0;
  while (reads[static_cast<size_t>(index)]->buffer != buffer) ++index;
  return steps::cache_read(sch, sum.ref, {index}, "global");
}

void expand(Schedule& sch, const std::vector<LoopRef>& loops) {
  for (size_t n = 0; n + 1 < loops.size(); ++n) steps::unroll(sch, loops[n]);
  steps::vectorize(sch, loops.back());
}

std::optional<Reason> why_no_loops(const Schedule& sch, const BlockShape& sum, const SumPlan& plan) {
  if (!has_loop(sch, sum.ref, plan.column))
    return Reason(Reason::kTooSmall, "axis {} has one value, and would be that of its vectors",
                  axis_name(sum, plan.column));
  if (std::none_of(plan.steps.begin(), plan.steps.end(),
                   [&](size_t axis) { return has_loop(sch, sum.ref, axis); }))
    return Reason(Reason::kTooSmall, "each axis along which it adds has one value");
  return std::nullopt;
}

OrReason<LoopRef> tile_by_plan(Schedule& sch, const BlockShape& sum,
                               const std::optional<BlockShape>& epilogue, const SumPlan& plan, int64_t work,
                               const Features& features, const SumPlace& at) {
  if (const std::optional<Reason> why = why_no_loops(sch, sum, plan)) return *why;
  const OrReason<Target> target = target_of(sch, sum, epilogue, plan.column, features);
  if (!target) return target.reason();
  const Operands operands = operands_of(sum, plan);
  const bool is_parallel =
      features.num_cores > 1 &&
      std::max(work, product(operands.of_rows, kLoopCosts.element_work)) >= features.min_parallel_work();
  TileLoops loops = tile_epilogue(sch, target->block, target->map, plan, at.within,
                                  split_of_rows(sum, plan, operands, is_parallel, features),
                                  are_panels_inside(sum, plan, operands, target->block, features));
  std::vector<LoopRef> outer = loops.outer;
  std::vector<int64_t> extents;
  for (LoopRef loop : outer) extents.push_back(extent_of(sch, loop));
  std::optional<LoopRef> panel;
  if (plan.packed) panel = outer[loops.num_before_rows - 1];
  const bool is_made_in_parts = at.maker && (!is_parallel || are_rows_apart(sum, plan));
  if (is_parallel) {
    int64_t num_panels = 1;
    for (size_t n = 0; n < loops.num_before_rows; ++n)
      num_panels = product(num_panels, std::max<int64_t>(1, extent_of(sch, outer[n])));
    const bool is_by_panel = plan.packed && num_panels >= 2 * features.num_cores;
    const size_t num_candidates = is_made_in_parts && loops.chunk
                                      ? *loops.chunk + 1  // each thread makes its rows
                                  : is_by_panel ? loops.num_before_rows
                                                : outer.size();
    outer = parallelize(sch, outer, num_candidates, features);
    if (is_by_panel)
      panel = outer[outer.size() - (loops.outer.size() - loops.num_before_rows) - 1];
    else
      panel.reset();
  }
  // the loops over tiles of a block of rows are inside (sum_plan_matrix.cc)
  if (plan.next_panel && !plan.has_blocks())
    mark_iterations(sch, plan, sum, outer, extents, loops.num_before_rows);
  if (!plan.matrix) fetch_added(sch, sum, *target, plan, outer, features);
  const LoopRef place = outer.back();
  std::optional<LoopRef> rows_place;
  if (!at.maker || is_made_in_parts)
    rows_place = loop_around_panels(sch, target->block, *target->map[plan.column], outer);
  const bool has_packed_rows = at.maker || (!at.within && rows_place && are_rows_copied(sum, plan));
  // the sum's tile and its packing see the loops as they are now
  if (plan.matrix)
    compute_matrix_sum(sch, sum, place, plan);
  else
    compute_sum(sch, sum, place, plan);
  const int64_t lanes = plan.tile.lanes;
  if (plan.packed)
    copy_operand(sch, sum, plan.packed->buffer, lanes,
                 panel_map(plan.packed->buffer, panel_layout(sum, plan, plan.packed)), panel, features);
  if (plan.spread && !at.within)
    copy_operand(sch, sum, plan.spread->buffer, lanes, line_map(sum, plan, features), std::nullopt, features);
  if (has_packed_rows) pack_rows(sch, sum, plan, {at.maker, rows_place}, features);
  if (plan.dot && !plan.matrix) tensorize_dots(sch, sum, *plan.dot);
  return place;
}

std::optional<Reason> tile_sum(Schedule& sch, const BlockShape& sum,
                               const std::optional<BlockShape>& epilogue, const Features& features,
                               const SumPlace& at) {
  const OrReason<SumPlan> plan = plan_sum(sum, features);
  if (!plan) return plan.reason();
  return tile_by_plan(sch, sum, epilogue, *plan, sum.num_instances(), features, at).why_not();
}

}  // namespace tilewright::schedule
