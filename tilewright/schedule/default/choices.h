// Decisions of the rules that somebody may take otherwise: annotations of a block, "plan.tile_rows" = 6.  The
// tuner varies plans so; a user may pin one.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/schedule/schedule.h"
#include "tilewright/target/features.h"

namespace tilewright::schedule {
using target::Features;

/// What the names of such annotations begin with.
inline constexpr std::string_view kPlan = "plan.";
/// The value that leaves a decision to the rules.
inline constexpr int64_t kByRules = -1;

/// A decision: a value that a rule cannot use for its block leaves the decision to the rule.
struct PlanChoice {
  std::string_view name;  // without kPlan
  std::string_view doc;
  bool is_of_sums;  // false: of blocks that work element by element
  /// The values that are worth a try on a machine with `features`.
  std::vector<int64_t> (*options)(const Features& features);
};
std::span<const PlanChoice> plan_choices();

/// The value of decision `name` for `block`, or `by_rules`.
int64_t planned(const Block& block, std::string_view name, int64_t by_rules);
/// True if `annotation` is such a decision.
bool is_plan(std::string_view annotation);
/// Raises UserError for an annotation of `block` that names no decision.
void require_plan(const Schedule& sch, BlockRef block);
/// Removes the decisions of `block`, by steps.
void remove_plan(Schedule& sch, BlockRef block);

}  // namespace tilewright::schedule
