#include "tilewright/tune/gpu_rule.h"

#include <algorithm>

#include "tilewright/support/near.h"
#include "tilewright/tune/samples.h"

namespace tilewright::tune {

std::span<const GpuRuleInfo* const> all_gpu_rules() { return {k_gpu_rules, k_gpu_rules_count}; }

std::vector<Rule> rules_for_gpu(const GpuFeatures& features) {
  std::vector<const GpuRuleInfo*> infos(all_gpu_rules().begin(), all_gpu_rules().end());
  std::ranges::sort(infos, {}, [](const GpuRuleInfo* info) { return info->order; });
  std::vector<Rule> rules{rule_named("auto_inline")};
  for (const GpuRuleInfo* info : infos) {
    rules.push_back(
        {std::string(info->name), [info, features](const Schedule& sch, BlockRef block, const Features&) {
           return info->apply(sch, block, features);
         }});
  }
  return rules;
}

Rule gpu_rule_named(std::string_view name, const GpuFeatures& features) {
  std::vector<Rule> rules = rules_for_gpu(features);
  std::vector<std::string_view> names;
  for (Rule& rule : rules) {
    if (rule.name == name) return std::move(rule);
    names.push_back(rule.name);
  }
  throw UserError("there is no schedule rule \"{}\" for GPUs", name)
      .help("{}", nearest_names_text(name, names));
}

std::optional<Reason> why_on_threads(const Schedule& sch, BlockRef block) {
  for (auto id = sch.state().node(sch.state()[block]).parent; sch.state().node(id).is_loop();
       id = sch.state().node(id).parent) {
    const tir::ForNode* loop = sch.state().node(id).loop();
    if (loop->for_kind == tir::ForKind::kThreadBinding)
      return Reason(Reason::kForm, "another rule has given it threads");
  }
  return std::nullopt;
}

schedule::ExprRef sample_threads(Schedule& sch, int64_t least, int64_t most) {
  std::vector<int64_t> counts;
  for (int64_t count = std::min(least, most); count <= most; count *= 2) counts.push_back(count);
  return sample_of(sch, counts);
}

}  // namespace tilewright::tune
