// Rules that make the designs of the space of GPUs.  The folder gpu_rules/ is the registry: each file defines
// `extern constinit const GpuRuleInfo <stem>_info`.
#pragma once
#include "tilewright/target/gpu_features.h"
#include "tilewright/tune/rule.h"

namespace tilewright::tune {
using target::GpuFeatures;

/// As RuleInfo, for GPUs.
struct GpuRuleInfo {
  std::string_view name;
  std::string_view doc;
  int order;  // rules with smaller numbers run first
  OrReason<std::vector<Schedule>> (*apply)(const Schedule& sch, BlockRef block, const GpuFeatures& features);
};

/// All rules for GPUs, sorted by name; made from the folder gpu_rules/.
extern const GpuRuleInfo* const k_gpu_rules[];
extern const std::size_t k_gpu_rules_count;
std::span<const GpuRuleInfo* const> all_gpu_rules();

/// They and auto_inline, in the order in which they run, for a GPU of `features`.
std::vector<Rule> rules_for_gpu(const GpuFeatures& features);
/// The rule of these called `name`.  Raises UserError with the nearest names.
Rule gpu_rule_named(std::string_view name, const GpuFeatures& features);

/// Nothing if no loop around `block` runs on threads, else the reason of a rule that schedules blocks which have none.
std::optional<Reason> why_on_threads(const Schedule& sch, BlockRef block);
/// A sampled number of threads, powers of two from `least` to `most`.
schedule::ExprRef sample_threads(Schedule& sch, int64_t least, int64_t most);

}  // namespace tilewright::tune
