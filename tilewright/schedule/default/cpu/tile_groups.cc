#include "tilewright/schedule/default/cpu/tile_groups.h"

#include <algorithm>

#include "tilewright/ir/rewrite.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/default/cpu/epilogue.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tir/text.h"

namespace tilewright::schedule {
namespace {

bool is_reduced(const BlockShape& shape, size_t axis) {
  return shape.block->iter_vars[axis]->iter_type == IterType::kReduce;
}

// For each axis of `parts` the one of `sum` that reads it, if `sum` reads it once.
OrReason<AxisMap> axes_of_reader(const BlockShape& parts, const BlockShape& sum) {
  const auto is_of_parts = [&](const BufferLoadNode* load) { return load->buffer == parts.output(); };
  const auto num_loads = std::count_if(sum.loads.begin(), sum.loads.end(), is_of_parts);
  if (num_loads != 1)
    return Reason(Reason::kForm, "block {} reads {} in {} places", sum.block->name_hint, parts.output()->name,
                  num_loads);
  const BufferLoadNode* load = *std::find_if(sum.loads.begin(), sum.loads.end(), is_of_parts);
  AxisMap map(parts.block->iter_vars.size());
  for (size_t dim = 0; dim < load->indices.size(); ++dim) {
    const auto from = axis_of(parts, parts.store->indices[dim]), to = axis_of(sum, load->indices[dim]);
    if (!from || !to || map[*from])
      return Reason(Reason::kForm, "block {} reads {} at index {} of dimension {}, which is none of its axes",
                    sum.block->name_hint, parts.output()->name, expr_text(load->indices[dim]), dim);
    map[*from] = to;
  }
  return map;
}

}  // namespace

OrReason<GroupPlan> plan_groups(const BlockShape& parts, const BlockShape& sum, const Features& features) {
  if (!parts.is_reduction() || !sum.is_reduction())
    return Reason(Reason::kOther, "block {}, which reads {}, adds nothing up", sum.block->name_hint,
                  parts.output()->name);
  if (num_steps(sum) <= 1) return Reason(Reason::kTooSmall, "block {} adds one group", sum.block->name_hint);
  const OrReason<AxisMap> map = axes_of_reader(parts, sum);
  if (!map) return map.reason();
  std::optional<size_t> group;
  for (size_t axis = 0; axis < map->size(); ++axis) {
    if (map->at(axis) && is_reduced(sum, *map->at(axis))) group = axis;
  }
  const OrReason<SumPlan> inner = plan_sum(parts, features, false, group);
  if (!inner) return inner.reason();
  if (inner->dot)
    return Reason(Reason::kCost, "an instruction adds the products of block {} by groups of {}",
                  parts.block->name_hint, inner->dot->group);
  if (inner->is_copy_needed)
    return Reason(Reason::kCost, "tiles of block {} need a copy of {}", parts.block->name_hint,
                  inner->packed->buffer->name);
  if (!map->at(inner->column) || map->at(inner->column) != sum.last_axis())
    return Reason(Reason::kForm, "axis {} of block {}, which is that of its vectors, is not that of block {}",
                  axis_name(parts, inner->column), parts.block->name_hint, sum.block->name_hint);
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
  if (plan.sum.steps.size() != 1 || is_reduced(sum, plan.sum.column))
    return Reason(Reason::kForm, "block {} adds along {} axes, not along that of the groups alone",
                  sum.block->name_hint, plan.sum.steps.size());
  return plan;
}

std::optional<Reason> tile_groups(Schedule& sch, const BlockShape& parts, const BlockShape& sum,
                                  const std::optional<BlockShape>& epilogue, const Features& features) {
  const OrReason<GroupPlan> plan = plan_groups(parts, sum, features);
  if (!plan) return plan.reason();
  if (const std::optional<Reason> why = why_no_loops(sch, parts, plan->parts)) return why;
  const OrReason<LoopRef> place =
      tile_by_plan(sch, sum, epilogue, plan->sum, parts.num_instances(), features);
  if (!place) return place.reason();
  const std::vector<LoopRef> groups =
      loops_of_axis(sch, sum.ref, plan->sum.steps[0], loops_inside(sch, sum.ref, *place));
  if (groups.empty()) return Reason(Reason::kTooSmall, "block {} adds one group", sum.block->name_hint);
  steps::set_scope(sch, parts.ref, {0}, "local");
  compute_sum(sch, parts, groups[0], plan->parts);
  return std::nullopt;
}

std::vector<Panels> group_panels(const BlockShape& parts, const BlockShape& sum, const Features& features) {
  std::vector<Panels> panels;
  const OrReason<GroupPlan> plan = plan_groups(parts, sum, features);
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
