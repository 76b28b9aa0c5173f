// The steps of rule tile_sum, for rules that make their own plan of a sum.
#pragma once
#include "tilewright/schedule/default/cpu/rules.h"
#include "tilewright/schedule/default/cpu/sum_plan.h"

namespace tilewright::schedule {

/// Tiles `sum` as `plan` says.
///
/// work     multiply-adds of all, by which it becomes parallel
/// Returns  the loop in which a tile is computed; the reason if the epilogue reads the sum in another way
OrReason<LoopRef> tile_by_plan(Schedule& sch, const BlockShape& sum,
                               const std::optional<BlockShape>& epilogue, const SumPlan& plan, int64_t work,
                               const Features& features, const SumPlace& at = {});

/// Nothing if the columns and some step of `sum` are those of loops, else which are not.
std::optional<Reason> why_no_loops(const Schedule& sch, const BlockShape& sum, const SumPlan& plan);

/// The sum at loop `place`, what it needs of a tile in registers.
void compute_sum(Schedule& sch, const BlockShape& sum, LoopRef place, const SumPlan& plan);
/// The sum of matrix tiles at loop `place`: loops that code generators make instructions of, innermost rows,
/// columns, groups and the elements of a group (sum_plan_matrix.cc).
void compute_matrix_sum(Schedule& sch, const BlockShape& sum, LoopRef place, const SumPlan& plan);

}  // namespace tilewright::schedule
