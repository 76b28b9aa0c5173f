// Panels of vector operands of a sum: how often tiles read them, if copies pay, how far ahead to fetch.
#pragma once
#include "tilewright/schedule/default/cpu/sum_plan.h"

namespace tilewright::schedule {

bool is_spatial(const BlockShape& sum, size_t axis);
/// True if each index of `load` is an axis or a number.
bool has_axes_only(const BufferLoadNode* load);
/// How often tiles read an element of an operand, columns counted by panels.
int64_t num_uses(const BlockShape& sum, const BufferLoadNode* load, const SumPlan& plan);
/// True if a panel of `load` can be copied: every index is an axis of its own, no row, and all sums use them
/// all.
bool is_plain_matrix(const BlockShape& sum, const BufferLoadNode* load, const SumPlan& plan);
bool has_several_panels(const BlockShape& sum, const SumPlan& plan);
/// True if a copy of each panel at each call pays: many tiles read it, and the whole does not stay near the
/// core.
bool is_worth_packing(const BlockShape& sum, const BufferLoadNode* load, const SumPlan& plan,
                      const Features& features);
/// How many panels of plan.packed are copied together.
int64_t copied_panels_of(const BlockShape& sum, const SumPlan& plan, const Features& features);
/// How many bytes ahead of the loop the vectors of `load` are fetched; 0: not at all.
int64_t fetch_ahead_of(const BlockShape& sum, const BufferLoadNode* load, const SumPlan& plan,
                       const Features& features);
/// The panel that is fetched while the one before it is multiplied, if that pays.
std::optional<NextPanel> next_panel_of(const BlockShape& sum, const BufferLoadNode* load, const SumPlan& plan,
                                       const Features& features);

}  // namespace tilewright::schedule
