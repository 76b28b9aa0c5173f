// func with {"n": [1, 8]}  ->  if n < 2: the plan for 1, else: the plan for 8
#include "tilewright/schedule/default/extent_plans.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "tilewright/arith/likely.h"
#include "tilewright/ir/walk.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/fresh.h"
#include "tilewright/tir/loop_hints.h"

namespace tilewright::schedule {
namespace {

/// A size with several likely values.
struct OpenSize {
  Var var;
  std::vector<int64_t> values;  // ascending
};

// The first size of `func` with several likely values.
std::optional<OpenSize> open_size_of(const PrimFunc& func) {
  const ir::AttrMap sizes = arith::likely_sizes_of(func->attrs);
  std::map<std::string, std::set<const VarNode*>> vars;
  for (const Buffer& buffer : func->buffers) {
    if (!buffer) continue;
    for (const PrimExpr& extent : buffer->shape)
      walk(extent, [&](const VarNode* var) { vars[var->name_hint].insert(var); });
  }
  for (const auto& [name, value] : sizes) {
    std::vector<int64_t> values = arith::likely_values(sizes, name);
    // of two sizes of one name it is not known which is meant
    if (values.size() > 1 && vars[name].size() == 1) return OpenSize{Var(*vars[name].begin()), values};
  }
  return std::nullopt;
}

PrimFunc with_likely_values(const PrimFunc& func, const std::string& name,
                            const std::vector<int64_t>& values) {
  ir::AttrMap sizes = arith::likely_sizes_of(func->attrs);
  sizes.set(name, arith::likely_item(values));
  return ir::ref_as<PrimFuncNode>(
      ir::with_attr(func, std::string(arith::kLikelySizes), ir::DictNode::make(sizes)));
}

bool is_prefetch_hint(const Instruction& step) {
  constexpr std::string_view kHints[] = {kPrefetchAhead,  kPrefetchLevel,   kPrefetchAheadOfFew,
                                         kPrefetchWrites, kPanelIterations, kPrefetchPanel,
                                         kPanelRow};
  if (step.primitive->name != "annotate") return false;
  const auto* key = std::get_if<std::string>(&step.args[1].data);
  return key && std::ranges::find(kHints, *key) != std::end(kHints);
}

// The steps that change what code does.
std::string steps_of(const Trace& trace) {
  std::string text;
  for (const Instruction& step : trace.steps) {
    if (!is_prefetch_hint(step)) text += step.str() + "\n";
  }
  return text;
}

// True if both have the same plans for the same sizes.  Plans that differ in hints about prefetches alone count as
// the same: those for small extents cost large ones nothing (docs/decisions/0026-plans-by-extent.md).
bool are_same(const PlannedFunction& a, const PlannedFunction& b) {
  return std::ranges::equal(a.plans, b.plans, [](const Plan& one, const Plan& other) {
    return extents_text(one.extents) == extents_text(other.extents) &&
           steps_of(one.schedule.trace) == steps_of(other.schedule.trace);
  });
}

/// The plans for values of a size that have the same ones.
struct Group {
  PlannedExtent extent;
  PlannedFunction planned;
};

PlannedFunction joined(const PrimFunc& func, const Var& var, std::vector<Group> groups) {
  PlannedFunction result;
  Stmt body;
  for (size_t n = groups.size(); n-- > 0;) {
    const Stmt own = tir::fresh_copy(groups[n].planned.func->body);
    body = body ? IfThenElseNode::make(var < groups[n + 1].extent.first, own, body) : own;
  }
  for (Group& group : groups) {
    for (Plan& plan : group.planned.plans) {
      plan.extents.insert(plan.extents.begin(), group.extent);
      result.plans.push_back(std::move(plan));
    }
  }
  result.func = with(func, [&](PrimFuncNode& changed) { changed.body = body; });
  return result;
}

}  // namespace

std::string extents_text(const std::vector<PlannedExtent>& extents) {
  std::vector<std::string> texts;
  for (const PlannedExtent& each : extents) texts.push_back(fmt::format("{} from {}", each.name, each.first));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string plan_text(const std::vector<PlannedExtent>& extents) {
  std::vector<std::string> best;
  for (const PlannedExtent& each : extents)
    best.push_back(fmt::format("{} = {}", each.name, fmt::join(each.best, " or ")));
  return fmt::format("{}: best at {}", extents_text(extents), fmt::join(best, ", "));
}

PlannedFunction plan_by_rules(const std::string& name, const PrimFunc& func, const Features& features) {
  const std::optional<OpenSize> open = open_size_of(func);
  if (!open) {
    DefaultSchedule schedule = schedule_by_rules(name, func, features);
    const PrimFunc scheduled = schedule.func;
    return {scheduled, {{{}, std::move(schedule)}}};
  }
  const std::string& size = open->var->name_hint;
  std::vector<Group> groups;
  for (const int64_t value : open->values) {
    PlannedFunction planned = plan_by_rules(name, with_likely_values(func, size, {value}), features);
    if (!groups.empty() && are_same(groups.back().planned, planned)) {
      groups.back().extent.best.push_back(value);
      continue;
    }
    const int64_t first = groups.empty() ? 1 : groups.back().extent.best.back() + 1;
    groups.push_back({{size, first, {value}}, std::move(planned)});
  }
  if (groups.size() == 1) return std::move(groups.front().planned);
  return joined(func, open->var, std::move(groups));
}

PackedWeights pack_weights_of_plans(const PrimFunc& func, const std::vector<bool>& is_weight,
                                    const Features& features) {
  const std::optional<OpenSize> open = open_size_of(func);
  if (!open) return pack_weights(func, is_weight, features);
  const std::string& size = open->var->name_hint;
  const PrimFunc last = with_likely_values(func, size, {open->values.back()});
  PackedWeights packed = pack_weights_of_plans(last, is_weight, features);
  const bool are_same = std::ranges::all_of(open->values, [&](int64_t value) {
    return pack_weights(with_likely_values(func, size, {value}), is_weight, features).layouts ==
           packed.layouts;
  });
  if (are_same) packed.func = with_likely_values(packed.func, size, open->values);
  return packed;
}

}  // namespace tilewright::schedule
