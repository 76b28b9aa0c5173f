// The space of the default rules: each decision that they take (schedule/default/choices.h) is a sample.
#pragma once
#include "tilewright/schedule/schedule.h"
#include "tilewright/target/features.h"

namespace tilewright::tune {
using schedule::Schedule;
using schedule::Trace;
using target::Features;

/// The default rules for function `func_name`, with samples of what they decide.
struct PlanDesign {
  Trace samples;  // annotate the blocks; the rules come after them
  std::string func_name;
  Features features;

  /// Runs the rules on `sch`, which has the samples.
  void finish(Schedule& sch) const;
};

/// None if somebody has scheduled the function, or no block of it has a decision.
std::optional<PlanDesign> plan_design(const Schedule& program, const std::string& func_name,
                                      const Features& features);

}  // namespace tilewright::tune
