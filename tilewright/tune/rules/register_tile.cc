// register_tile: a tile of a sum's results stays in registers while all of its terms are added, in the order of
// the default schedule.  Tiles may reach over the edge, so that extents like 127 and 13 have as many ways as others.
//   for i, j, k: C[i, j] += A[i, k] * B[k, j]   ->   for io, jo:
//                                                     for k: unrolled ii, jn: vectorized jv: T[..] += ..
//                                                     C[io * n + ii, ..] = T[ii, jn, jv]
// Sampled are the sizes of tiles, lanes, and how far loops over terms are written out.  Designs differ in the axis
// of vectors, the order of tiles, and in operands that are copied so that vectors read what is contiguous.  Where the
// default schedule adds terms apart from each other, so do these, so that results are the same bits.
#include <algorithm>

#include "tilewright/schedule/default/cpu/epilogue.h"
#include "tilewright/schedule/default/cpu/rules.h"
#include "tilewright/schedule/default/cpu/sum_plan.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/uses.h"
#include "tilewright/tune/partial_sums.h"
#include "tilewright/tune/rule.h"
#include "tilewright/tune/samples.h"

namespace tilewright::tune {
namespace {
namespace steps = schedule::steps;
using schedule::Along;
using schedule::BlockShape;
using schedule::ExprRef;
using schedule::LoopRef;
using tir::BufferLoadNode;
using tir::IndexMap;
using tir::IterType;
using tir::PrimExpr;
using tir::Var;

constexpr int64_t kMostRows = 16, kMostVectors = 8, kMostWrittenOut = 16;

/// A way of tiling that is not sampled.
struct Way {
  size_t column = 0;                          // axis of the vectors
  bool is_column_outermost = false;           // tiles of other axes pass by one panel of columns
  std::vector<const BufferLoadNode*> copied;  // operands
};

std::vector<size_t> axes_of(const BlockShape& sum, IterType type) {
  std::vector<size_t> found;
  for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis) {
    if (sum.block->iter_vars[axis]->iter_type == type) found.push_back(axis);
  }
  return found;
}

std::optional<Reason> why_not(Schedule& sch, const BlockShape& sum) {
  if (!sum.is_reduction()) return Reason(Reason::kForm, "it is no reduction");
  const std::vector<LoopRef> all = steps::get_loops(sch, sum.ref);
  for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis) {
    if (sum.extent(axis) == 0) return schedule::open_extent(sum, axis);
    if (schedule::loops_of_axis(sch, sum.ref, axis, all).size() > 1)
      return Reason(Reason::kForm, "axis {} has several loops", axis_name(sum, axis));
  }
  const auto has_some = [&](IterType type) {
    return std::ranges::any_of(axes_of(sum, type), [&](size_t axis) { return sum.extent(axis) > 1; });
  };
  if (!has_some(IterType::kSpatial)) return Reason(Reason::kForm, "there is a single result");
  if (!has_some(IterType::kReduce)) return Reason(Reason::kForm, "no loop adds terms");
  return std::nullopt;
}

// The one dimension of a buffer that grows with `axis`, if its index is a sum of axes.
std::optional<size_t> dimension_of(const BlockShape& sum, const BufferLoadNode* load, size_t axis) {
  std::optional<size_t> found;
  for (size_t dim = 0; dim < load->indices.size(); ++dim) {
    if (!tir::uses(load->indices[dim], sum.block->iter_vars[axis]->var.get())) continue;
    if (found || !arith::is_one(schedule::step_along(load->indices[dim], sum.block->iter_vars[axis]->var)))
      return std::nullopt;
    found = dim;
  }
  return found;
}

// Loads that vectors along `column` cannot read as they are, but a copy can; every operand once.
std::vector<const BufferLoadNode*> to_copy(const BlockShape& sum, size_t column, bool has_contiguous) {
  std::vector<const BufferLoadNode*> found;
  for (const BufferLoadNode* load : sum.loads) {
    const Along way = along(sum, load, column);
    const bool is_wanted = way == Along::kStrided || (has_contiguous && way == Along::kContiguous);
    const bool is_once = std::ranges::count_if(sum.loads, [&](const BufferLoadNode* other) {
                           return other->buffer == load->buffer;
                         }) == 1;
    if (is_wanted && is_once && load->indices.size() > 1 && dimension_of(sum, load, column))
      found.push_back(load);
  }
  return found;
}

// B[k, j]  ->  B[j // lanes, k, j % lanes] for column j: in panels; the dimension of vectors last
IndexMap panels_of(const BlockShape& sum, const BufferLoadNode* load, size_t column, int64_t lanes) {
  const size_t dim = *dimension_of(sum, load, column);
  std::vector<Var> from;
  for (size_t n = 0; n < load->indices.size(); ++n)
    from.push_back(tir::make_var(fmt::format("i{}", n), load->indices[n]->dtype));
  std::vector<PrimExpr> to{tir::floordiv(from[dim], lanes)};
  for (size_t n = 0; n < from.size(); ++n) {
    if (n != dim) to.emplace_back(from[n]);
  }
  to.push_back(tir::floormod(from[dim], lanes));
  return tir::IndexMapNode::make(from, to);
}

std::vector<Way> ways_of(const BlockShape& sum) {
  std::vector<Way> ways;
  for (size_t column : axes_of(sum, IterType::kSpatial)) {
    if (sum.extent(column) == 1) continue;
    const bool is_stored = sum.last_axis() == column;
    const auto is_along = [&](Along way) {
      return std::ranges::any_of(sum.loads, [&](auto* load) { return along(sum, load, column) == way; });
    };
    const bool is_loaded = is_along(Along::kContiguous);
    if (!is_stored && !is_loaded) continue;
    ways.push_back({column, false, {}});
    // an operand that other axes read again stays near while they pass by
    const bool is_panel = is_along(Along::kStays) && is_loaded;
    if (is_panel) ways.push_back({column, true, {}});
    if (const auto copied = to_copy(sum, column, is_panel); !copied.empty())
      ways.push_back({column, is_panel, copied});
    else if (const auto strided = to_copy(sum, column, false); !strided.empty())
      ways.push_back({column, false, strided});
  }
  return ways;
}

// The only reader of the sum, if it works element by element.
std::optional<BlockShape> epilogue_of(Schedule& sch, const BlockShape& sum) {
  std::optional<BlockShape> found;
  for (BlockRef block : sch.call("get_consumers", sum.ref).blocks()) {
    OrReason<BlockShape> shape = schedule::shape_of(sch, block);
    if (!shape || shape->is_reduction() || found) return std::nullopt;
    found = std::move(*shape);
  }
  return found;
}

// The loops of the block that stores results: outside and inside of tiles.
struct TileLoops {
  std::vector<LoopRef> outer, inner;
};

TileLoops tile_results(Schedule& sch, const BlockShape& target, size_t column, const ExprRef& lanes,
                       int64_t num_lanes, const Way& way) {
  TileLoops loops;
  const std::vector<LoopRef> all = steps::get_loops(sch, target.ref);
  std::vector<LoopRef> column_loops = schedule::loops_of_axis(sch, target.ref, column, all);
  size_t num_rows = 0;
  for (LoopRef loop : all) num_rows += schedule::extent_of(sch, loop) > 1 ? 1 : 0;
  for (LoopRef loop : all) {
    if (schedule::is_same(sch, loop, column_loops[0])) continue;
    const ExprRef rows = sample_count(sch, std::min(schedule::extent_of(sch, loop), kMostRows),
                                      schedule::extent_of(sch, loop), static_cast<int64_t>(num_rows));
    const std::vector<LoopRef> parts = steps::split(sch, loop, {schedule::None{}, rows});
    loops.outer.push_back(parts[0]);
    loops.inner.push_back(parts[1]);
  }
  const int64_t extent = schedule::extent_of(sch, column_loops[0]);
  const ExprRef vectors = sample_count(sch, std::min(kMostVectors, (extent - 1) / num_lanes + 1), extent, 2);
  const std::vector<LoopRef> columns = steps::split(sch, column_loops[0], {schedule::None{}, vectors, lanes});
  loops.outer.insert(way.is_column_outermost ? loops.outer.begin() : loops.outer.end(), columns[0]);
  loops.inner.insert(loops.inner.end(), columns.begin() + 1, columns.end());
  std::vector<LoopRef> order = loops.outer;
  order.insert(order.end(), loops.inner.begin(), loops.inner.end());
  steps::reorder(sch, order);
  schedule::expand(sch, loops.inner);
  return loops;
}

// Axes of terms in the order in which the default schedule adds them, outermost first, so that results are the same
// bits: of a window with channels, those come last.
std::vector<size_t> terms_of(const BlockShape& sum, const Features& features) {
  const std::vector<size_t> terms = axes_of(sum, IterType::kReduce);
  const OrReason<schedule::SumPlan> plan = schedule::plan_sum(sum, features);
  if (!plan) return terms;
  std::vector<size_t> ordered;  // others among the steps are axes of results
  for (size_t axis : plan->steps) {
    if (std::ranges::find(terms, axis) != terms.end()) ordered.push_back(axis);
  }
  return ordered.size() == terms.size() ? ordered : terms;
}

// The sum in the loop over tiles: loops over terms, and inside of them the tile.
void compute_tile(Schedule& sch, const BlockShape& sum, const std::vector<size_t>& terms, LoopRef place,
                  size_t column, const ExprRef& lanes) {
  sch.call("compute_at", sum.ref, place, true);
  const std::vector<LoopRef> inside = schedule::loops_inside(sch, sum.ref, place);
  const auto of_axis = [&](size_t axis) { return schedule::loops_of_axis(sch, sum.ref, axis, inside); };
  std::vector<LoopRef> order, written_out, tile;
  for (size_t axis : terms) {
    for (LoopRef loop : of_axis(axis)) {
      const std::vector<ExprRef> sizes =
          sch.call("sample_perfect_tile", loop, int64_t{2}, kMostWrittenOut).exprs();
      const std::vector<LoopRef> parts =
          steps::split(sch, loop, schedule::Factors(sizes.begin(), sizes.end()));
      order.insert(order.end(), parts.begin(), parts.end());
      written_out.push_back(parts[1]);
    }
  }
  for (size_t axis : axes_of(sum, IterType::kSpatial)) {
    if (axis == column) continue;
    const std::vector<LoopRef> own = of_axis(axis);
    tile.insert(tile.end(), own.begin(), own.end());
  }
  for (LoopRef loop : of_axis(column)) {
    const std::vector<LoopRef> parts = steps::split(sch, loop, {schedule::None{}, lanes});
    tile.insert(tile.end(), parts.begin(), parts.end());
  }
  const LoopRef first = order[0];
  order.insert(order.end(), tile.begin(), tile.end());
  steps::reorder(sch, order);
  const BlockRef init = steps::decompose_reduction(sch, sum.ref, first);
  schedule::expand(sch, schedule::loops_inside(sch, init, place));
  for (LoopRef loop : written_out) steps::unroll(sch, loop);
  schedule::expand(sch, tile);
}

// reader  the block that reads the operand, of those that compute `sum`
void copy_operand(Schedule& sch, const BlockShape& sum, BlockRef reader, const BufferLoadNode* load,
                  const Way& way, int64_t lanes, const Features& features) {
  const BlockRef copy = schedule::copy_of_operand(sch, *schedule::shape_of(sch, reader), load->buffer);
  steps::transform_layout(sch, copy, steps::written_buffer(0), panels_of(sum, load, way.column, lanes));
  const std::vector<LoopRef> loops = steps::get_loops(sch, copy);
  if (features.num_cores > 1) steps::parallel(sch, loops[0]);
}

// The axis of `shape` that is dimension `from_last` of what it stores, counted from the last.
size_t axis_of_dimension(const BlockShape& shape, size_t from_last) {
  const size_t dim = shape.store->indices.size() - 1 - from_last;
  const std::optional<size_t> axis = schedule::axis_of(shape, shape.store->indices[dim]);
  if (!axis) throw UserError("dimension {} of {} is no axis", dim, shape.output()->name);
  return *axis;
}

Schedule design_of(Schedule sch, const BlockShape& sum, const std::optional<BlockShape>& epilogue,
                   const Way& way, const PartialSums& sums, const Features& features) {
  size_t dim = 0;  // of vectors, in the result
  while (dim < sum.store->indices.size() && schedule::axis_of(sum, sum.store->indices[dim]) != way.column)
    ++dim;
  if (dim == sum.store->indices.size())
    throw UserError("axis {} is no index of {}", axis_name(sum, way.column), sum.output()->name);
  dim = sum.store->indices.size() - 1 - dim;  // partial sums have more dimensions before it
  std::vector<BlockRef> parts = make_partial_sums(sch, sum.ref, sums, 0);
  const BlockShape last = *schedule::shape_of(sch, sum.ref);
  const size_t last_column = axis_of_dimension(last, dim);
  const OrReason<schedule::Target> target = schedule::target_of(sch, last, epilogue, last_column, features);
  if (!target) throw UserError("{}", target.reason().text);
  const int64_t most_lanes = std::max<int64_t>(1, features.vector_bytes / sum.output()->dtype.num_bytes());
  // copies are in panels of whole vectors
  const ExprRef lanes = sample_lanes(sch, most_lanes, way.copied.empty());
  const TileLoops loops = tile_results(sch, target->block, *target->map[last_column], lanes, most_lanes, way);
  const LoopRef place = loops.outer.size() > 1 ? steps::fuse(sch, loops.outer) : loops.outer[0];
  if (features.num_cores > 1) steps::parallel(sch, place);
  // each of these reads what the one before it in the program writes
  parts.push_back(sum.ref);
  for (size_t n = parts.size(); n-- > 0;) {
    const BlockShape part = *schedule::shape_of(sch, parts[n]);
    const std::vector<size_t> terms =
        sums.lanes.empty() ? terms_of(sum, features) : axes_of(part, IterType::kReduce);
    compute_tile(sch, part, terms, place, axis_of_dimension(part, dim), lanes);
  }
  for (const BufferLoadNode* load : way.copied)
    copy_operand(sch, sum, parts[0], load, way, most_lanes, features);
  return sch;
}

OrReason<std::vector<Schedule>> apply(const Schedule& sch, BlockRef block, const Features& features) {
  Schedule start = sch;
  const OrReason<BlockShape> sum = schedule::shape_of(start, block);
  if (!sum) return sum.reason();
  if (const std::optional<Reason> why = why_not(start, *sum)) return *why;
  const std::optional<BlockShape> epilogue = epilogue_of(start, *sum);
  const PartialSums sums = default_sums(start, *sum, features);
  std::vector<Schedule> designs;
  std::string refused = "along no axis are neighbours contiguous in what it reads or stores";
  for (const Way& way : ways_of(*sum)) {
    for (bool has_epilogue : {true, false}) {
      if (has_epilogue && !epilogue) continue;
      try {
        designs.push_back(
            design_of(start, *sum, has_epilogue ? epilogue : std::nullopt, way, sums, features));
        break;
      } catch (const Error& error) {
        if (error.kind() == Error::Kind::kInternal) throw;
        refused = error.text();
      }
    }
  }
  if (designs.empty()) return Reason(Reason::kRefused, "{}", refused);
  // tiles for caches, of other rules, where what is read does not stay near
  if (schedule::reads_beyond(*sum, 2 * features.l2_bytes)) designs.push_back(sch);
  return designs;
}

}  // namespace

extern constinit const RuleInfo register_tile_info{
    "register_tile", "a tile of a sum's results stays in registers while its terms are added", 10, &apply};
}  // namespace tilewright::tune
