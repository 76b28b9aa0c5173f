// Rules that make the designs of the generic space.  The folder rules/ is the registry: each file defines
// `extern constinit const RuleInfo <stem>_info`.  A user's rules take their place, or a block's attribute
// "schedule_rule" names the only one that it gets.
#pragma once
#include <functional>
#include <map>
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
  /// The ways in which a block may be scheduled, each `sch` with more steps; or why there is none.  `sch` itself
  /// is among them where the rules that follow have other ways.
  OrReason<std::vector<Schedule>> (*apply)(const Schedule& sch, BlockRef block, const Features& features);
  /// Its designs add floats in another order than the program: they run only where that is allowed.
  bool changes_sums = false;
};

/// All rules, sorted by name; made from the folder rules/.
extern const RuleInfo* const k_rules[];
extern const std::size_t k_rules_count;
std::span<const RuleInfo* const> all_rules();

/// A rule of the registry, or a user's.
struct Rule {
  std::string name;
  std::function<OrReason<std::vector<Schedule>>(const Schedule&, BlockRef, const Features&)> apply;
};
/// The rules of the registry, in the order in which they run; with those that change sums, or without.
std::vector<Rule> default_rules(bool allows_other_sums = false);
/// The rule of the registry called `name`.  Raises UserError with the nearest names.
Rule rule_named(std::string_view name);

/// Attribute of a block: the name of the only rule that it gets, or "None".
inline constexpr std::string_view kScheduleRule = "schedule_rule";

/// A rule that was tried on a block.
struct RuleAttempt {
  std::string block, rule;
  std::string reason;  // why it does not apply; empty: it was applied
  bool operator==(const RuleAttempt&) const = default;
};

struct Designs {
  std::vector<schedule::Trace> traces;
  std::vector<RuleAttempt> attempts;
};

/// The designs of function `func_name` of `program`, which nobody has scheduled: traces with samples.  Those
/// that no rule has changed are left out.
///
/// rules     in the order in which they run
/// by_block  the only rule of the block of that name, whatever its attribute says
/// Raises    UserError if an attribute names a rule that is neither in `rules` nor in the registry
Designs generic_designs(const Schedule& program, const std::string& func_name, const Features& features,
                        const std::vector<Rule>& rules = default_rules(),
                        const std::map<std::string, Rule>& by_block = {});

}  // namespace tilewright::tune
