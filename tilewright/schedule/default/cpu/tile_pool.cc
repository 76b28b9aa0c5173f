// Rule tile_pool: pools by steps (te/topi/pool_steps.h), some rows at a time, which stay in L1 from the first
// step to the result:
//   for blocks of rows of results, in parallel:
//     rows   in register tiles
//     steps  in vectors
//     result in vectors, with what was fused to it
#include <algorithm>

#include "tilewright/ir/services.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/default/cpu/rules.h"
#include "tilewright/schedule/default/cpu/sum_plan.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tir/block_roles.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

struct Parts {
  const BlockShape* rows = nullptr;
  std::vector<const BlockShape*> steps;
  const BlockShape* result = nullptr;
};

bool has_role(const BlockShape& shape, std::string_view role) {
  return shape.block->annotations.get_string(kRole, "") == role;
}

OrReason<Parts> parts_of(const std::vector<BlockShape>& shapes) {
  Parts parts;
  parts.rows = block_in_role(shapes, kPoolRows);
  if (!parts.rows) return Reason(Reason::kOther, "no block, or more than one, has the role {}", kPoolRows);
  for (const BlockShape& shape : shapes) {
    if (has_role(shape, kPoolStep)) parts.steps.push_back(&shape);
  }
  const auto reads_part = [&](const BlockShape& shape) {
    return reads(shape, parts.rows->output()) ||
           std::any_of(parts.steps.begin(), parts.steps.end(),
                       [&](const BlockShape* step) { return reads(shape, step->output()); });
  };
  for (const BlockShape& shape : shapes) {
    if (has_role(shape, kPoolStep) || !reads_part(shape)) continue;
    if (parts.result)
      return Reason(Reason::kForm, "blocks {} and {} read parts of the pool", parts.result->block->name_hint,
                    shape.block->name_hint);
    parts.result = &shape;
  }
  if (!parts.result || parts.result->is_reduction())
    return Reason(Reason::kForm, "no block that reads parts of the pool works element by element");
  return parts;
}

// The first dimension of parts in which the result reads them at several places, or not at its own.
size_t stepped_dimension(const Parts& parts) {
  const BlockShape& result = *parts.result;
  const Buffer& last = parts.steps.empty() ? parts.rows->output() : parts.steps.back()->output();
  std::vector<const BufferLoadNode*> loads;
  for (const BufferLoadNode* load : result.loads) {
    if (load->buffer == last) loads.push_back(load);
  }
  size_t dim = 0;
  const auto is_at_one_place = [&] {
    return std::all_of(loads.begin(), loads.end(), [&](const BufferLoadNode* load) {
      return is_zero(load->indices[dim]) || (axis_of(result, load->indices[dim]) &&
                                             structural_equal(load->indices[dim], loads[0]->indices[dim]));
    });
  };
  while (dim + 1 < last->shape.size() && is_at_one_place()) ++dim;
  return dim;
}

// The bytes of one row of results in all of rows and steps, extents that are not known as they are likely.
int64_t bytes_of_row(const Parts& parts, size_t dim) {
  constexpr int64_t kLive = 2;  // parts that are read and written at the same time
  const Buffer& buffer = parts.rows->output();
  int64_t bytes = kLive * buffer->dtype.num_bytes();
  for (size_t each = dim; each < buffer->shape.size(); ++each) {
    int64_t extent;
    bytes = product(bytes, as_const_int(buffer->shape[each], &extent) ? extent : kLoopCosts.likely_extent);
  }
  return std::max<int64_t>(bytes, 1);
}

// The rows of results that are computed together: whole tiles of rows, as many as half of L1 holds.
int64_t rows_of_block(const Parts& parts, size_t dim, int64_t extent, const Features& features) {
  int64_t tile = 1;
  if (parts.rows->is_reduction()) {
    const OrReason<SumPlan> plan = plan_sum(*parts.rows, features);
    if (plan && plan->row) tile = plan->rows;
  }
  const int64_t wish = parts.rows->planned("block_rows", kByRules);
  if (wish > 0) return wish * tile;
  const int64_t most = features.l1_bytes / 2 / bytes_of_row(parts, dim);
  const int64_t block = std::max<int64_t>(1, most / tile) * tile;
  if (extent == 0 || block >= extent) return block;
  const int64_t num_blocks = (extent - 1) / block + 1, even = (extent - 1) / num_blocks + 1;
  return ((even - 1) / tile + 1) * tile;
}

// Vectors along the last dimension, with masks at its end.
void vectorize_last(Schedule& sch, const BlockShape& shape, std::optional<LoopRef> place,
                    const Features& features) {
  const std::optional<size_t> last = shape.last_axis();
  if (!last) return;
  const std::vector<LoopRef> loops =
      loops_of_axis(sch, shape.ref, *last, loops_inside(sch, shape.ref, place));
  if (loops.empty()) return;
  int64_t lanes = features.vector_bytes / std::max<int64_t>(1, shape.output()->dtype.num_bytes());
  const int64_t extent = extent_of(sch, loops.back());
  while (extent > 0 && lanes > 1 && lanes / 2 >= extent) lanes /= 2;
  steps::vectorize(sch, steps::split(sch, loops.back(), {None{}, lanes})[1]);
}

// The loops of the result around blocks of `block` rows, the last of which is that over blocks.
std::vector<LoopRef> loops_around_blocks(Schedule& sch, const Parts& parts, size_t dim, int64_t block) {
  const BlockShape& result = *parts.result;
  const std::vector<LoopRef> all = steps::get_loops(sch, result.ref);
  std::vector<LoopRef> outer(all.begin(),
                             all.begin() + static_cast<std::ptrdiff_t>(std::min(dim, all.size())));
  if (outer.empty()) return outer;
  const int64_t extent = extent_of(sch, outer.back());
  if (extent > 0 && block >= extent) {
    outer.pop_back();
    return outer;
  }
  outer.back() = steps::split(sch, outer.back(), {None{}, block})[0];
  return outer;
}

}  // namespace

OrReason<std::vector<BlockRef>> tile_pool(Schedule& sch, const std::vector<BlockShape>& shapes,
                                          const Features& features) {
  const OrReason<Parts> found = parts_of(shapes);
  if (!found) return found.reason();
  const Parts& parts = *found;
  const BlockShape &result = *parts.result, &rows = *parts.rows;
  if (steps::get_loops(sch, result.ref).size() != rows.output()->shape.size())
    return Reason(Reason::kForm, "block {} has not a loop for each dimension of {}", result.block->name_hint,
                  rows.output()->name);
  const size_t dim = stepped_dimension(parts);
  if (dim == 0)
    return Reason(Reason::kForm, "the first dimension of {} is that of steps", rows.output()->name);
  const int64_t extent = extent_of(sch, steps::get_loops(sch, result.ref)[dim - 1]);
  const int64_t block = rows_of_block(parts, dim, extent, features);
  std::vector<LoopRef> outer = loops_around_blocks(sch, parts, dim, block);
  const int64_t work = product(rows.num_instances(), kLoopCosts.element_work);
  if (features.num_cores > 1 && work >= features.min_parallel_work() && !outer.empty())
    outer = parallelize(sch, outer, outer.size(), features);
  const std::optional<LoopRef> place = outer.empty() ? std::nullopt : std::optional(outer.back());
  std::vector<const BlockShape*> producers = {&rows};
  producers.insert(producers.end(), parts.steps.begin(), parts.steps.end());
  std::vector<BlockRef> done = {result.ref};
  for (size_t n = producers.size(); n-- > 0;) {
    if (place) steps::compute_at(sch, producers[n]->ref, *place);
    done.push_back(producers[n]->ref);
  }
  vectorize_last(sch, result, place, features);
  for (const BlockShape* step : parts.steps) vectorize_last(sch, *step, place, features);
  if (!rows.is_reduction()) {
    vectorize_last(sch, rows, place, features);
    return done;
  }
  Features one_core = features;
  one_core.num_cores = 1;  // blocks run in parallel
  if (std::optional<Reason> why = tile_sum(sch, rows, std::nullopt, one_core, {.within = place})) return *why;
  return done;
}

}  // namespace tilewright::schedule
