#include "tilewright/schedule/default/cpu/tile_groups.h"

#include <algorithm>

#include "tilewright/ir/rewrite.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/steps.h"

namespace tilewright::schedule {
namespace {

std::optional<size_t> axis_of(const BlockShape& shape, const PrimExpr& index) {
  for (size_t axis = 0; axis < shape.block->iter_vars.size(); ++axis) {
    if (shape.block->iter_vars[axis]->var.get() == index.as<VarNode>()) return axis;
  }
  return std::nullopt;
}

bool is_reduced(const BlockShape& shape, size_t axis) {
  return shape.block->iter_vars[axis]->iter_type == IterType::kReduce;
}

// For each axis of `parts` the one of `sum` that reads it; nothing if `sum` reads it in another way, or more
// than once.
std::optional<std::vector<std::optional<size_t>>> map_axes(const BlockShape& parts, const BlockShape& sum) {
  const auto is_of_parts = [&](const BufferLoadNode* load) { return load->buffer == parts.output(); };
  if (std::count_if(sum.loads.begin(), sum.loads.end(), is_of_parts) != 1) return std::nullopt;
  const BufferLoadNode* load = *std::find_if(sum.loads.begin(), sum.loads.end(), is_of_parts);
  std::vector<std::optional<size_t>> map(parts.block->iter_vars.size());
  for (size_t dim = 0; dim < load->indices.size(); ++dim) {
    const auto from = axis_of(parts, parts.store->indices[dim]), to = axis_of(sum, load->indices[dim]);
    if (!from || !to || map[*from]) return std::nullopt;
    map[*from] = to;
  }
  return map;
}

}  // namespace

std::optional<GroupPlan> plan_groups(const BlockShape& parts, const BlockShape& sum,
                                     const Features& features) {
  if (!parts.is_reduction() || !sum.is_reduction() || num_steps(sum) <= 1) return std::nullopt;
  const auto map = map_axes(parts, sum);
  if (!map) return std::nullopt;
  std::optional<size_t> group;
  for (size_t axis = 0; axis < map->size(); ++axis) {
    if (map->at(axis) && is_reduced(sum, *map->at(axis))) group = axis;
  }
  const std::optional<SumPlan> inner = plan_sum(parts, features, false, group);
  if (!inner || inner->dot || inner->is_copy_needed || !map->at(inner->column) ||
      map->at(inner->column) != sum.last_axis())
    return std::nullopt;
  GroupPlan plan{*inner, {}};
  plan.parts.packed = plan.parts.spread = nullptr;
  plan.sum.tile = inner->tile;
  plan.sum.rows = inner->rows;
  plan.sum.outer_rows = inner->outer_rows;
  plan.sum.column = *map->at(inner->column);
  if (inner->row) plan.sum.row = map->at(*inner->row);
  if (inner->outer_row) plan.sum.outer_row = map->at(*inner->outer_row);
  for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis) {
    if (is_reduced(sum, axis))
      plan.sum.steps.push_back(axis);
    else if (axis != plan.sum.column && axis != plan.sum.row && axis != plan.sum.outer_row)
      plan.sum.others.push_back(axis);
  }
  if (plan.sum.steps.size() != 1 || is_reduced(sum, plan.sum.column)) return std::nullopt;
  return plan;
}

bool tile_groups(Schedule& sch, const BlockShape& parts, const BlockShape& sum,
                 const std::optional<BlockShape>& epilogue, const Features& features) {
  const std::optional<GroupPlan> plan = plan_groups(parts, sum, features);
  if (!plan || !has_loops(sch, parts, plan->parts)) return false;
  const auto place = tile_by_plan(sch, sum, epilogue, plan->sum, parts.num_instances(), features);
  if (!place) return false;
  const std::vector<LoopRef> groups =
      loops_of_axis(sch, sum.ref, plan->sum.steps[0], loops_inside(sch, sum.ref, *place));
  if (groups.empty()) return false;
  steps::set_scope(sch, parts.ref, {0}, "local");
  compute_sum(sch, parts, groups[0], plan->parts);
  return true;
}

std::vector<Panels> group_panels(const BlockShape& parts, const BlockShape& sum, const Features& features) {
  std::vector<Panels> panels;
  const std::optional<GroupPlan> plan = plan_groups(parts, sum, features);
  if (!plan || sum.extent(plan->sum.column) <= plan->sum.panel_width()) return panels;
  const auto collect = [&](const BlockShape& shape, size_t column) {
    const Var& var = shape.block->iter_vars[column]->var;
    for (const BufferLoadNode* load : shape.loads) {
      if (load->buffer == parts.output() || along(load->buffer, load->indices, var) != Along::kContiguous)
        continue;
      size_t dim = 0;
      while (!uses(load->indices[dim], var.get())) ++dim;
      panels.push_back({load->buffer, {.width = plan->sum.panel_width(), .column = dim}});
    }
  };
  collect(parts, plan->parts.column);
  collect(sum, plan->sum.column);
  return panels;
}

}  // namespace tilewright::schedule
