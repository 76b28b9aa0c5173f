// Rule tile_groups: sums whose terms share factors in groups, as products by weights of int8 or int4 with a
// scale for each group.
//   parts[..., g, j] = sum over the terms of group g
//   sum[..., j]      = sum over g: parts[..., g, j] * scale[g, j]
#pragma once
#include "tilewright/schedule/default/cpu/tile_sum.h"

namespace tilewright::schedule {

/// How both blocks are tiled.
struct GroupPlan {
  SumPlan parts, sum;
};
/// The reason if the blocks are no such sums.
OrReason<GroupPlan> plan_groups(const BlockShape& parts, const BlockShape& sum, const Features& features);

/// A tile of `sum` in registers, and within it one of `parts` for each group.
std::optional<Reason> tile_groups(Schedule& sch, const BlockShape& parts, const BlockShape& sum,
                                  const std::optional<BlockShape>& epilogue, const Features& features);

/// The operands of both blocks that are better stored in panels if their layout is free.
std::vector<Panels> group_panels(const BlockShape& parts, const BlockShape& sum, const Features& features);

}  // namespace tilewright::schedule
