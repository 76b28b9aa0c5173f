// Rules that make the designs of the generic space.  The folder rules/ is the registry: each file defines
// `extern constinit const RuleInfo <stem>_info`.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "tilewright/schedule/default/reason.h"
#include "tilewright/schedule/schedule.h"
#include "tilewright/target/features.h"

namespace tilewright::tune {
using schedule::BlockRef;
using schedule::OrReason;
using schedule::Reason;
using schedule::Schedule;
using target::Features;

struct RuleInfo {
  std::string_view name;
  std::string_view doc;
  int order;  // rules with smaller numbers run first
  /// The ways in which a block may be scheduled, each `sch` with more steps; or why there is none.
  OrReason<std::vector<Schedule>> (*apply)(const Schedule& sch, BlockRef block, const Features& features);
};

/// All rules, sorted by name; made from the folder rules/.
extern const RuleInfo* const k_rules[];
extern const std::size_t k_rules_count;
std::span<const RuleInfo* const> all_rules();

/// A rule that was tried on a block.
struct RuleAttempt {
  std::string block, rule;
  std::string reason;  // why it does not apply; empty: it was applied
};

struct Designs {
  std::vector<schedule::Trace> traces;
  std::vector<RuleAttempt> attempts;
};

/// The designs of function `func_name` of `program`, which nobody has scheduled: traces with samples.  None if
/// no rule changes it.
Designs generic_designs(const Schedule& program, const std::string& func_name, const Features& features);

}  // namespace tilewright::tune
