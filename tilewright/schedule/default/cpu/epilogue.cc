#include "tilewright/schedule/default/cpu/epilogue.h"

#include <algorithm>

#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/default/cpu/rules.h"
#include "tilewright/schedule/default/cpu/sum_plan.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/loop_hints.h"
#include "tilewright/tir/text.h"

namespace tilewright::schedule {
namespace {

// The number by which a load of the sum divides `axis`, whose quotient and rest it reads; 0 if none does.
int64_t divisor_of(const BlockShape& sum, const BlockShape& epilogue, size_t axis) {
  const VarNode* var = epilogue.block->iter_vars[axis]->var.get();
  int64_t quotient_by = 0, rest_by = 0;
  for (const BufferLoadNode* load : epilogue.loads) {
    if (load->buffer != sum.output()) continue;
    for (const PrimExpr& index : load->indices) {
      const auto* quotient = index.as<FloorDivNode>();
      const auto* rest = index.as<FloorModNode>();
      if (quotient && quotient->a.get() == var) as_const_int(quotient->b, &quotient_by);
      if (rest && rest->a.get() == var) as_const_int(rest->b, &rest_by);
    }
  }
  return quotient_by > 1 && quotient_by == rest_by && epilogue.extent(axis) % rest_by == 0 ? rest_by : 0;
}

// The load that the epilogue reads in vectors beside the sum, if its buffer is large.
const BufferLoadNode* added_operand(const Target& target, size_t column, const Features& features) {
  const auto& loads = target.block.loads;
  const auto added = std::find_if(loads.begin(), loads.end(), [&](const BufferLoadNode* load) {
    return load->buffer->scope() != "local" && target.block.num_bytes(load->buffer) > features.l2_bytes / 2 &&
           along(target.block, load, *target.map[column]) == Along::kContiguous;
  });
  return added == loads.end() ? nullptr : *added;
}

// True if vectors that the sum itself reads move along `axis`: they would be fetched as well.
bool moves_vectors(const BlockShape& sum, size_t column, size_t axis) {
  return std::any_of(sum.loads.begin(), sum.loads.end(), [&](const BufferLoadNode* load) {
    return along(sum, load, column) != Along::kStays && along(sum, load, axis) != Along::kStays;
  });
}

}  // namespace

OrReason<AxisMap> map_axes(const BlockShape& sum, const BlockShape& epilogue) {
  AxisMap map(sum.block->iter_vars.size());
  bool is_read = false;
  for (const BufferLoadNode* load : epilogue.loads) {
    if (load->buffer != sum.output()) continue;
    is_read = true;
    for (size_t dim = 0; dim < load->indices.size(); ++dim) {
      const auto from = axis_of(sum, sum.store->indices[dim]), to = axis_of(epilogue, load->indices[dim]);
      if (is_one(sum.output()->shape[dim])) continue;
      if (!from || !to || (map[*from] && map[*from] != to))
        return Reason(Reason::kForm,
                      "block {} reads {} at index {} of dimension {}, which is none of its axes",
                      epilogue.block->name_hint, sum.output()->name, expr_text(load->indices[dim]), dim);
      map[*from] = to;
    }
  }
  for (size_t axis = 0; axis < epilogue.block->iter_vars.size(); ++axis) {
    if (epilogue.extent(axis) != 1 && std::find(map.begin(), map.end(), axis) == map.end())
      return Reason(Reason::kCost, "{} would be computed again for each value of axis {} of block {}",
                    sum.output()->name, axis_name(epilogue, axis), epilogue.block->name_hint);
  }
  if (!is_read)
    return Reason(Reason::kForm, "block {} does not read {}", epilogue.block->name_hint, sum.output()->name);
  return map;
}

void divide_epilogue(Schedule& sch, const BlockShape& sum, const BlockShape& epilogue,
                     const Features& features) {
  const bool is_far = epilogue.num_bytes(epilogue.output()) >= features.l2_bytes / 2;
  std::vector<Var> from;
  std::vector<PrimExpr> to;
  for (size_t axis = 0; axis < epilogue.block->iter_vars.size(); ++axis) {
    from.push_back(make_var(fmt::format("i{}", axis), epilogue.block->iter_vars[axis]->var->dtype));
    const PrimExpr value = from.back();
    int64_t divisor = divisor_of(sum, epilogue, axis);
    // parts of lines that are written at different times; other axes have whole rows of them
    const bool is_last = axis + 1 == epilogue.block->iter_vars.size();
    if (is_far && is_last && divisor * epilogue.output()->dtype.num_bytes() < features.line_bytes)
      divisor = 0;
    if (divisor > 0) to.push_back(floordiv(value, divisor));
    to.push_back(divisor > 0 ? floormod(value, divisor) : value);
  }
  if (to.size() > from.size()) steps::transform_block_layout(sch, epilogue.ref, IndexMapNode::make(from, to));
}

bool is_contiguous(const BlockShape& shape, size_t axis) {
  return along(shape.output(), shape.store->indices, shape.block->iter_vars[axis]->var) == Along::kContiguous;
}

OrReason<Target> target_of(Schedule& sch, const BlockShape& sum, const std::optional<BlockShape>& epilogue,
                           size_t column, const Features& features) {
  BlockRef block;
  if (epilogue) {
    divide_epilogue(sch, sum, *epilogue, features);
    const BlockShape divided = *shape_of(sch, epilogue->ref);
    const OrReason<AxisMap> map = map_axes(sum, divided);
    if (!map) return map.reason();
    const std::string &name = divided.block->name_hint, &output = divided.output()->name;
    if (!map->at(column) || !has_loop(sch, divided.ref, *map->at(column)))
      return Reason(Reason::kTooSmall, "block {} reads one column of {}", name, sum.output()->name);
    if (!is_contiguous(divided, *map->at(column)))
      return Reason(Reason::kForm, "neighbours along axis {} of block {} are not neighbours in {}",
                    axis_name(divided, *map->at(column)), name, output);
    steps::set_scope(sch, sum.ref, {0}, "local");
    block = epilogue->ref;
  } else {
    block = steps::cache_write(sch, sum.ref, {0}, "local");
  }
  const BlockShape shape = *shape_of(sch, block);
  return Target{shape, *map_axes(*shape_of(sch, sum.ref), shape)};
}

void fetch_added(Schedule& sch, const BlockShape& sum, const Target& target, const SumPlan& plan,
                 const std::vector<LoopRef>& loops, const Features& features) {
  const BufferLoadNode* added = added_operand(target, plan.column, features);
  if (!added) return;
  // rows from the inside to the outside
  std::vector<std::pair<size_t, int64_t>> steps;
  if (plan.row) steps.emplace_back(*plan.row, plan.rows);
  if (plan.outer_row) steps.emplace_back(*plan.outer_row, plan.outer_rows);
  for (size_t n = plan.others.size(); n-- > 0;) steps.emplace_back(plan.others[n], 1);
  for (const auto& [axis, count] : steps) {
    if (!target.map[axis] || moves_vectors(sum, plan.column, axis)) return;
    const std::vector<LoopRef> own = loops_of_axis(sch, target.block.ref, *target.map[axis], loops);
    const int64_t iterations = (sum.likely_extent(axis) - 1) / count + 1;
    if (own.size() == 1 && iterations == 1) continue;
    const int64_t ahead = product(stride_bytes(target.block, added, *target.map[axis]).value_or(0), count);
    // another extent: one loop with those of other axes
    if (own.size() == 1 && extent_of(sch, own[0]) == iterations && ahead > 0 &&
        ahead < kLoopCosts.added_rows_bytes)
      fetch_ahead(sch, own[0], prefetch_at(ahead, features));
    return;
  }
}

}  // namespace tilewright::schedule
