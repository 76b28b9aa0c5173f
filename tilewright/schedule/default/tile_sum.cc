// Register tiles for sums.
//   for i, j, k: C[i, j] += A[i, k] * B[k, j]
//   ->  for jo: pack B[:, jo]
//           for io: C_local[8, 32] = 0; for k: C_local[ii, jn, jv] += A[io * 8 + ii, k] * B_packed[jo, k, jn,
//           jv]; C = C_local
// The epilogue is tiled first; the sum, and then its packed operand, are computed where they are used.
#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/default/register_tile.h"
#include "tilewright/schedule/default/rules.h"
#include "tilewright/schedule/loops.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

constexpr int64_t kOpenRows = 4;       // a tile of rows of unknown number: the guards of few rows cost little
constexpr int64_t kMinPackedUses = 4;  // tiles that read a panel, to pay for its copy
constexpr int64_t kMaxShortRow = 4;    // rows of an axis that alone make no good tile
constexpr int64_t kMinGroupLanes = 4;  // channels of a group in one vector, at least
constexpr int64_t kMaxGatherStride = 4;  // elements between the lanes of one load

// What is decided before anything is changed.
struct Plan {
  size_t column = 0;                // axis of the vectors
  std::optional<size_t> row;        // axis along which vectors are reused
  std::optional<size_t> outer_row;  // another one, if the first is short: then a tile takes all of `row`
  RegisterTile tile;
  int64_t rows = 1, outer_rows = 1;  // tile.rows of both axes
  std::vector<size_t> shared;        // outer axes that the vector operands depend on
  std::vector<size_t> others;        // outer axes that they do not depend on
  const BufferLoadNode* packed = nullptr;
};

bool is_spatial(const BlockShape& sum, size_t axis) {
  return sum.block->iter_vars[axis]->iter_type == IterType::kSpatial;
}

Along along_axis(const BlockShape& sum, const BufferLoadNode* load, size_t axis) {
  return along(load->buffer, load->indices, sum.block->iter_vars[axis]->var);
}

// A strided convolution reads every second element of a row; lanes may be gathered when they are that near.
bool is_near(const BlockShape& sum, const BufferLoadNode* load, size_t axis) {
  const Var& var = sum.block->iter_vars[axis]->var;
  int64_t stride = 0;
  for (size_t dim = 0; dim < load->indices.size(); ++dim) {
    const PrimExpr step =
        arith::simplify(substitute(load->indices[dim], {{var.get(), var + 1}}) - load->indices[dim]);
    if (is_zero(step)) continue;
    if (dim + 1 != load->indices.size() || !as_const_int(step, &stride)) return false;
  }
  return stride > 0 && stride <= kMaxGatherStride;
}

// Whether the lanes of one vector read the same element: v // 128 * 48 + k, the group of a convolution.
bool stays_in_vectors(const BlockShape& sum, const BufferLoadNode* load, size_t axis, int64_t lanes) {
  const Var& var = sum.block->iter_vars[axis]->var;
  const Var vector = make_var("vector", var->dtype), lane = make_var("lane", var->dtype);
  arith::Analyzer analyzer;
  analyzer.bind(lane, make_range(imm(0, var->dtype), imm(lanes, var->dtype)));
  return std::none_of(load->indices.begin(), load->indices.end(), [&](const PrimExpr& index) {
    return uses(analyzer.simplify(substitute(index, {{var.get(), vector * lanes + lane}})), lane.get());
  });
}

// How a load moves along the columns, and the most lanes with which it does.
Along along_columns(const BlockShape& sum, const BufferLoadNode* load, size_t column, int64_t* lanes) {
  const Along moves = along_axis(sum, load, column);
  if (moves != Along::kStrided) return moves;
  for (int64_t fewer = *lanes; fewer >= kMinGroupLanes; fewer /= 2) {
    if (!stays_in_vectors(sum, load, column, fewer)) continue;
    *lanes = fewer;
    return Along::kStays;
  }
  return moves;
}

// The innermost axis along which some vector stays the same, else the innermost other one.
std::optional<size_t> row_axis(const BlockShape& sum, size_t column,
                               const std::vector<const BufferLoadNode*>& vectors) {
  std::optional<size_t> any, reused;
  for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis) {
    if (axis == column || !is_spatial(sum, axis) || sum.likely_extent(axis) <= 1) continue;
    any = axis;
    for (const BufferLoadNode* load : vectors) {
      if (along_axis(sum, load, axis) == Along::kStays) reused = axis;
    }
  }
  return reused ? reused : any;
}

// Of an axis of unknown extent as many as a tile takes.
int64_t num_rows(const BlockShape& sum, size_t axis) {
  return sum.extent(axis) ? sum.extent(axis) : kOpenRows;
}

// How often a panel of a vector operand is read.
int64_t num_uses(const BlockShape& sum, const BufferLoadNode* load, const Plan& plan) {
  int64_t uses = 1;
  for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis) {
    if (!is_spatial(sum, axis) || axis == plan.column || along_axis(sum, load, axis) != Along::kStays)
      continue;
    const int64_t tile = axis == plan.row ? plan.rows : axis == plan.outer_row ? plan.outer_rows : 1;
    uses = product(uses, (sum.likely_extent(axis) - 1) / tile + 1);
  }
  return uses;
}

// Packing repeats what windows share: every index must be an axis of its own, no row, and all sums use them
// all.
bool is_plain_matrix(const BlockShape& sum, const BufferLoadNode* load, const Plan& plan) {
  for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis) {
    const bool stays = along_axis(sum, load, axis) == Along::kStays;
    if (!is_spatial(sum, axis) && stays && sum.extent(axis) > 1) return false;
    if ((axis == plan.row || axis == plan.outer_row) && !stays) return false;
  }
  return std::all_of(load->indices.begin(), load->indices.end(),
                     [](const PrimExpr& index) { return is<VarNode>(index) || is<IntImmNode>(index); });
}

// A panel of a vector operand is worth a copy if many tiles read it, and the whole does not stay near the
// core.
bool is_worth_packing(const BlockShape& sum, const BufferLoadNode* load, const Plan& plan,
                      const Machine& machine) {
  int64_t bytes = load->dtype.num_bytes();
  for (const PrimExpr& extent : load->buffer->shape) {
    int64_t number;
    if (as_const_int(extent, &number)) bytes = product(bytes, number);
  }
  return bytes > machine.l2_bytes && is_plain_matrix(sum, load, plan) &&
         sum.extent(plan.column) > plan.tile.vectors * plan.tile.lanes &&
         num_uses(sum, load, plan) >= kMinPackedUses;
}

// Rows that are too few for a good tile are taken whole, together with some of the next axis.
void choose_tile(const BlockShape& sum, Plan& plan, int64_t vector_loads, int64_t row_loads,
                 const Machine& machine) {
  const int64_t element_bytes = std::max<int64_t>(1, sum.output()->dtype.num_bytes());
  const int64_t row_extent = plan.row ? num_rows(sum, *plan.row) : 1,
                columns = sum.likely_extent(plan.column);
  if (plan.row && row_extent <= kMaxShortRow && !plan.others.empty() && sum.extent(plan.others.back()) > 1) {
    plan.outer_row = plan.others.back();
    plan.others.pop_back();
    plan.tile = choose_register_tile(product(row_extent, sum.extent(*plan.outer_row)), columns, element_bytes,
                                     vector_loads, row_loads, machine, row_extent);
    plan.rows = row_extent;
    plan.outer_rows = plan.tile.rows / row_extent;
    return;
  }
  plan.tile = choose_register_tile(row_extent, columns, element_bytes, vector_loads, row_loads, machine);
  plan.rows = plan.tile.rows;
}

std::optional<Plan> make_plan(const BlockShape& sum, const Machine& machine) {
  Plan plan;
  const std::optional<size_t> column = sum.last_axis();
  if (!column || sum.output()->dtype.is_bool()) return std::nullopt;
  plan.column = *column;
  std::vector<const BufferLoadNode*> vectors;
  int64_t num_steps = 1;
  for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis) {
    if (!is_spatial(sum, axis)) num_steps = product(num_steps, sum.likely_extent(axis));
  }
  if (num_steps <= 1 || sum.likely_extent(plan.column) < 2) return std::nullopt;
  const int64_t element_bytes = std::max<int64_t>(1, sum.output()->dtype.num_bytes());
  int64_t lanes = std::max<int64_t>(1, machine.vector_bytes / element_bytes);
  for (const BufferLoadNode* load : sum.loads) {
    const Along moves = along_columns(sum, load, plan.column, &lanes);
    if (moves == Along::kStrided && !is_near(sum, load, plan.column)) return std::nullopt;
    if (moves != Along::kStays) vectors.push_back(load);
  }
  if (vectors.empty()) return std::nullopt;
  plan.row = row_axis(sum, plan.column, vectors);
  int64_t row_loads = 0, vector_loads = 0;
  for (const BufferLoadNode* load : sum.loads) {
    const bool is_vector = std::find(vectors.begin(), vectors.end(), load) != vectors.end();
    vector_loads += is_vector;
    row_loads += !is_vector && plan.row && along_axis(sum, load, *plan.row) != Along::kStays;
  }
  for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis) {
    if (axis == plan.column || axis == plan.row || !is_spatial(sum, axis)) continue;
    const bool is_shared = std::any_of(vectors.begin(), vectors.end(), [&](const BufferLoadNode* load) {
      return along_axis(sum, load, axis) != Along::kStays;
    });
    (is_shared ? plan.shared : plan.others).push_back(axis);
  }
  Machine with_lanes = machine;
  with_lanes.vector_bytes = lanes * element_bytes;
  choose_tile(sum, plan, vector_loads, row_loads, with_lanes);
  for (const BufferLoadNode* load : vectors) {
    if (!plan.packed && is_worth_packing(sum, load, plan, machine)) plan.packed = load;
  }
  return plan;
}

// For each axis of the sum the axis of the epilogue that runs over the same elements.  Nothing if it reads
// the sum in another way.
using AxisMap = std::vector<std::optional<size_t>>;
std::optional<AxisMap> map_axes(const BlockShape& sum, const BlockShape& epilogue) {
  AxisMap map(sum.block->iter_vars.size());
  auto axis_of = [](const BlockShape& shape, const PrimExpr& index) -> std::optional<size_t> {
    for (size_t axis = 0; axis < shape.block->iter_vars.size(); ++axis) {
      if (shape.block->iter_vars[axis]->var.get() == index.as<VarNode>()) return axis;
    }
    return std::nullopt;
  };
  bool is_read = false;
  for (const BufferLoadNode* load : epilogue.loads) {
    if (load->buffer != sum.output()) continue;
    is_read = true;
    for (size_t dim = 0; dim < load->indices.size(); ++dim) {
      const auto from = axis_of(sum, sum.store->indices[dim]), to = axis_of(epilogue, load->indices[dim]);
      if (is_one(sum.output()->shape[dim])) continue;
      if (!from || !to || (map[*from] && map[*from] != to)) return std::nullopt;
      map[*from] = to;
    }
  }
  return is_read ? std::optional(map) : std::nullopt;
}

// The tile's loops of the block that stores results.
struct TileLoops {
  std::vector<LoopRef> outer;  // the last is where the sum is computed
  size_t num_before_rows = 0;  // of them up to and with the loop over panels
};

// Rows and vectors are expanded, lanes run together.
void expand(Schedule& sch, const std::vector<LoopRef>& loops) {
  for (size_t n = 0; n + 1 < loops.size(); ++n) sch.call("unroll", loops[n]);
  sch.call("vectorize", loops.back());
}

TileLoops tile_epilogue(Schedule& sch, const BlockShape& target, const AxisMap& map, const Plan& plan) {
  TileLoops result;
  std::vector<LoopRef> all = loops_inside(sch, target.ref, std::nullopt), used;
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
  std::vector<LoopRef> columns =
      sch.call("split", *column, Factors{None{}, plan.tile.vectors, plan.tile.lanes}).loops();
  result.outer.push_back(columns[0]);
  result.num_before_rows = result.outer.size();
  for (size_t axis : plan.others) take(axis);
  std::vector<LoopRef> inner;
  auto split_rows = [&](LoopRef loop, int64_t count) {
    const std::vector<LoopRef> rows = sch.call("split", loop, Factors{None{}, count}).loops();
    result.outer.push_back(rows[0]);
    inner.push_back(rows[1]);
  };
  if (outer_row) split_rows(*outer_row, plan.outer_rows);
  if (row) split_rows(*row, plan.rows);
  inner.push_back(columns[1]);
  inner.push_back(columns[2]);
  std::vector<LoopRef> order = result.outer;
  order.insert(order.end(), inner.begin(), inner.end());
  sch.call("reorder", order);
  expand(sch, inner);
  return result;
}

void compute_sum(Schedule& sch, const BlockShape& sum, LoopRef place, const Plan& plan) {
  sch.call("compute_at", sum.ref, place);
  const std::vector<LoopRef> inside = loops_inside(sch, sum.ref, place);
  std::vector<LoopRef> order, tile;
  for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis) {
    if (axis == plan.column || axis == plan.row || axis == plan.outer_row) continue;
    for (LoopRef loop : loops_of_axis(sch, sum.ref, axis, inside)) order.push_back(loop);
  }
  TILEWRIGHT_CHECK(!order.empty(), "block {} has no loop that sums", sum.block->name_hint);
  if (plan.outer_row) tile = loops_of_axis(sch, sum.ref, *plan.outer_row, inside);
  if (plan.row) {
    for (LoopRef loop : loops_of_axis(sch, sum.ref, *plan.row, inside)) tile.push_back(loop);
  }
  for (LoopRef loop : loops_of_axis(sch, sum.ref, plan.column, inside)) {
    if (extent_of(sch, loop) <= plan.tile.lanes) {
      tile.push_back(loop);
      continue;
    }
    for (LoopRef part : sch.call("split", loop, Factors{None{}, plan.tile.lanes}).loops())
      tile.push_back(part);
  }
  const LoopRef first = order[0];
  order.insert(order.end(), tile.begin(), tile.end());
  sch.call("reorder", order);
  const BlockRef init = sch.call("decompose_reduction", sum.ref, first).block();
  expand(sch, loops_inside(sch, init, place));
  expand(sch, tile);
}

// panel  the loop over panels if they are packed one at a time; nothing: all of them before everything else
void pack(Schedule& sch, const BlockShape& sum, const Plan& plan, std::optional<LoopRef> panel,
          const Machine& machine) {
  const auto& reads = sch.state().node(sch.state()[sum.ref]).block()->reads;
  int64_t index = 0;
  while (reads[static_cast<size_t>(index)]->buffer != plan.packed->buffer) ++index;
  const BlockRef copy = sch.call("cache_read", sum.ref, index, "global").block();
  if (panel) sch.call("compute_at", copy, *panel);
  const std::vector<LoopRef> loops = loops_inside(sch, copy, panel);
  if (extent_of(sch, loops.back()) > plan.tile.lanes) {
    sch.call("vectorize", sch.call("split", loops.back(), Factors{None{}, plan.tile.lanes}).loops().back());
  } else {
    sch.call("vectorize", loops.back());
  }
  if (!panel && loops.size() > 1) parallelize(sch, loops, loops.size() - 1, machine);
  // B[..., j]  ->  B[j // width, ..., j % width]
  const int64_t width = plan.tile.vectors * plan.tile.lanes;
  const Buffer& buffer = plan.packed->buffer;
  std::vector<Var> from;
  for (size_t dim = 0; dim < buffer->shape.size(); ++dim)
    from.push_back(make_var(fmt::format("i{}", dim), buffer->shape[dim]->dtype));
  size_t last = from.size() - 1;
  while (last > 0 && is_one(buffer->shape[last])) --last;
  std::vector<PrimExpr> to{floordiv(PrimExpr(from[last]), width)};
  for (size_t dim = 0; dim < from.size(); ++dim) {
    if (dim != last) to.push_back(from[dim]);
  }
  to.push_back(floormod(PrimExpr(from[last]), width));
  sch.call("transform_layout", copy, ArgValue{"write", 0}, IndexMapNode::make(from, to));
}

}  // namespace

bool tile_sum(Schedule& sch, const BlockShape& sum, const std::optional<BlockShape>& epilogue,
              const Machine& machine) {
  const std::optional<Plan> plan = make_plan(sum, machine);
  if (!plan) return false;
  std::optional<BlockShape> target = epilogue;
  std::optional<AxisMap> map = epilogue ? map_axes(sum, *epilogue) : std::nullopt;
  if (map && map->at(plan->column) != epilogue->last_axis()) map.reset();
  if (map) {
    sch.call("set_scope", sum.ref, 0, "local");
    target = shape_of(sch, epilogue->ref);
    map = map_axes(*shape_of(sch, sum.ref), *target);
  } else {
    target = shape_of(sch, sch.call("cache_write", sum.ref, 0, "local").block());
    map = map_axes(*shape_of(sch, sum.ref), *target);
  }
  TileLoops loops = tile_epilogue(sch, *target, *map, *plan);
  std::vector<LoopRef> outer = loops.outer;
  std::optional<LoopRef> panel = outer[loops.num_before_rows - 1];
  if (sum.num_instances() >= kMinParallelWork && machine.num_cores > 1) {
    int64_t num_panels = 1;
    for (size_t n = 0; n < loops.num_before_rows; ++n)
      num_panels = product(num_panels, std::max<int64_t>(1, extent_of(sch, outer[n])));
    const bool is_by_panel = plan->packed && num_panels >= 2 * machine.num_cores;
    outer = parallelize(sch, outer, is_by_panel ? loops.num_before_rows : outer.size(), machine);
    if (is_by_panel)
      panel = outer[outer.size() - (loops.outer.size() - loops.num_before_rows) - 1];
    else
      panel.reset();
  }
  const LoopRef place = outer.back();
  // the sum's tile and its packing see the loops as they are now
  compute_sum(sch, sum, place, *plan);
  if (plan->packed) pack(sch, sum, *plan, panel, machine);
  return true;
}

}  // namespace tilewright::schedule
