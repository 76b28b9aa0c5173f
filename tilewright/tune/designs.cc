#include <algorithm>

#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/support/near.h"
#include "tilewright/tune/rule.h"

namespace tilewright::tune {
namespace steps = schedule::steps;

std::span<const RuleInfo* const> all_rules() { return {k_rules, k_rules_count}; }

std::vector<Rule> default_rules(bool allows_other_sums) {
  std::vector<const RuleInfo*> infos(all_rules().begin(), all_rules().end());
  std::sort(infos.begin(), infos.end(),
            [](const RuleInfo* a, const RuleInfo* b) { return a->order < b->order; });
  std::vector<Rule> rules;
  for (const RuleInfo* info : infos) {
    if (allows_other_sums || !info->changes_sums) rules.push_back({std::string(info->name), info->apply});
  }
  return rules;
}

Rule rule_named(std::string_view name) {
  std::vector<std::string_view> names;
  for (const RuleInfo* info : all_rules()) {
    if (info->name == name) return {std::string(name), info->apply};
    names.push_back(info->name);
  }
  throw UserError("there is no schedule rule \"{}\"", name).help("{}", nearest_names_text(name, names));
}

namespace {

// Designs before a rule become designs after it; those that it does not apply to stay.
std::vector<Schedule> after(const Rule& rule, std::vector<Schedule> designs, BlockRef block,
                            const Features& features, std::vector<RuleAttempt>* attempts) {
  std::vector<Schedule> found;
  for (Schedule& design : designs) {
    if (!design.is_alive(block)) {
      found.push_back(std::move(design));
      continue;
    }
    const std::string name = design.get(block)->name_hint;
    OrReason<std::vector<Schedule>> made = rule.apply(design, block, features);
    RuleAttempt attempt{name, rule.name, made ? "" : made.reason().text};
    if (std::find(attempts->begin(), attempts->end(), attempt) == attempts->end())
      attempts->push_back(std::move(attempt));
    if (made)
      std::move((*made).begin(), (*made).end(), std::back_inserter(found));
    else
      found.push_back(std::move(design));
  }
  return found;
}

// The only rule that a block gets; a rule without a function is none at all.
std::optional<Rule> own_rule(const Schedule& program, BlockRef ref, const std::vector<Rule>& rules,
                             const std::map<std::string, Rule>& by_block) {
  const tir::Block block = program.get(ref);
  if (const auto found = by_block.find(block->name_hint); found != by_block.end()) return found->second;
  const std::string name = block->annotations.get_string(kScheduleRule, "");
  if (name.empty()) return std::nullopt;
  if (name == "None") return Rule{};
  for (const Rule& rule : rules) {
    if (rule.name == name) return rule;
  }
  return rule_named(name);
}

bool is_changed(const schedule::Trace& trace) {
  return std::any_of(trace.steps.begin(), trace.steps.end(),
                     [](const schedule::Instruction& step) { return !step.primitive->is_query; });
}

}  // namespace

Designs generic_designs(const Schedule& program, const std::string& func_name, const Features& features,
                        const std::vector<Rule>& rules, const std::map<std::string, Rule>& by_block) {
  Designs result;
  std::vector<Schedule> designs{program};
  std::vector<BlockRef> blocks;
  for (BlockRef block :
       steps::get_child_blocks(designs[0], steps::get_block(designs[0], "root", func_name))) {
    const std::optional<Rule> own = own_rule(designs[0], block, rules, by_block);
    if (!own)
      blocks.push_back(block);
    else if (own->apply)
      designs = after(*own, std::move(designs), block, features, &result.attempts);
  }
  for (const Rule& rule : rules) {
    // consumers first, so that a block finds where its results are needed
    for (size_t n = blocks.size(); n-- > 0;)
      designs = after(rule, std::move(designs), blocks[n], features, &result.attempts);
  }
  for (const Schedule& design : designs) {
    if (is_changed(design.trace())) result.traces.push_back(design.trace());
  }
  return result;
}

}  // namespace tilewright::tune
