#include <algorithm>

#include "tilewright/schedule/steps.h"
#include "tilewright/tune/rule.h"

namespace tilewright::tune {
namespace steps = schedule::steps;

std::span<const RuleInfo* const> all_rules() { return {k_rules, k_rules_count}; }

namespace {

std::vector<const RuleInfo*> rules_in_order() {
  std::vector<const RuleInfo*> rules(all_rules().begin(), all_rules().end());
  std::sort(rules.begin(), rules.end(),
            [](const RuleInfo* a, const RuleInfo* b) { return a->order < b->order; });
  return rules;
}

// Designs before a rule become designs after it; those that it does not apply to stay.
std::vector<Schedule> after(const RuleInfo& rule, std::vector<Schedule> designs, BlockRef block,
                            const Features& features, std::vector<RuleAttempt>* attempts) {
  std::vector<Schedule> found;
  for (Schedule& design : designs) {
    if (!design.is_alive(block)) {
      found.push_back(std::move(design));
      continue;
    }
    const std::string name = design.get(block)->name_hint;
    OrReason<std::vector<Schedule>> made = rule.apply(design, block, features);
    attempts->push_back({name, std::string(rule.name), made ? "" : made.reason().text});
    if (made)
      std::move((*made).begin(), (*made).end(), std::back_inserter(found));
    else
      found.push_back(std::move(design));
  }
  return found;
}

}  // namespace

Designs generic_designs(const Schedule& program, const std::string& func_name, const Features& features) {
  Designs result;
  std::vector<Schedule> designs{program};
  const std::vector<BlockRef> blocks =
      steps::get_child_blocks(designs[0], steps::get_block(designs[0], "root", func_name));
  for (const RuleInfo* rule : rules_in_order()) {
    // consumers first, so that a block finds where its results are needed
    for (size_t n = blocks.size(); n-- > 0;)
      designs = after(*rule, std::move(designs), blocks[n], features, &result.attempts);
  }
  const bool is_changed = std::any_of(result.attempts.begin(), result.attempts.end(),
                                      [](const RuleAttempt& each) { return each.reason.empty(); });
  if (!is_changed) return result;
  for (const Schedule& design : designs) result.traces.push_back(design.trace());
  return result;
}

}  // namespace tilewright::tune
