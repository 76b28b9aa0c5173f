#include "tilewright/tune/plan_design.h"

#include "tilewright/schedule/default/choices.h"
#include "tilewright/schedule/default/cpu/shape.h"
#include "tilewright/schedule/default/default.h"
#include "tilewright/schedule/steps.h"

namespace tilewright::tune {
namespace {
namespace steps = schedule::steps;
using schedule::ArgValue;
using schedule::BlockRef;
using schedule::PlanChoice;

// Half of the draws leave a decision to the rules, so that most plans differ in few of them.
void add_samples(Schedule& sch, BlockRef block, bool is_sum, const Features& features) {
  for (const PlanChoice& choice : schedule::plan_choices()) {
    if (choice.is_of_sums != is_sum) continue;
    ArgValue::List values{schedule::kByRules}, shares{1.0};
    for (int64_t value : choice.options(features)) values.emplace_back(value);
    for (size_t n = 1; n < values.size(); ++n)
      shares.emplace_back(1.0 / static_cast<double>(values.size() - 1));
    const ArgValue sample = sch.call("sample_categorical", std::move(values), std::move(shares)).value;
    sch.call("annotate", block, std::string(schedule::kPlan) + std::string(choice.name), sample);
  }
}

}  // namespace

void PlanDesign::finish(Schedule& sch) const { schedule::schedule_by_rules(sch, func_name, features); }

std::optional<PlanDesign> plan_design(const Schedule& program, const std::string& func_name,
                                      const Features& features) {
  for (const schedule::State::Func& func : program.state().funcs()) {
    if (func.name->name_hint == func_name && (!func.func || schedule::why_not_plain(func.func)))
      return std::nullopt;
  }
  Schedule sch = program.fork(0);
  const size_t num_before = sch.trace().steps.size();
  const std::vector<BlockRef> blocks = steps::get_child_blocks(sch, steps::get_block(sch, "root", func_name));
  const size_t num_looks = sch.trace().steps.size();
  for (BlockRef block : blocks) {
    if (const auto shape = schedule::shape_of(sch, block))
      add_samples(sch, block, shape->is_reduction(), features);
  }
  if (sch.trace().steps.size() == num_looks) return std::nullopt;
  PlanDesign design{sch.trace(), func_name, features};
  design.samples.steps.erase(design.samples.steps.begin(),
                             design.samples.steps.begin() + static_cast<std::ptrdiff_t>(num_before));
  return design;
}

}  // namespace tilewright::tune
