// Several plans of one function, for extents that are known only when it is called.
#pragma once
#include "tilewright/schedule/default/default.h"

namespace tilewright::schedule {

/// The values of a size that a plan is for.
struct PlannedExtent {
  std::string name;
  int64_t first;              // up to where the next plan begins; 1 of the first plan, which takes 0 as well
  std::vector<int64_t> best;  // the likely values among them (arith/likely.h)
};

struct Plan {
  std::vector<PlannedExtent> extents;  // none: for all calls
  DefaultSchedule schedule;
};

/// "n from 2, h from 1"; "" for all calls.
std::string extents_text(const std::vector<PlannedExtent>& extents);
/// "n from 2, h from 1: best at n = 8, h = 224 or 640"
std::string plan_text(const std::vector<PlannedExtent>& extents);

/// A function that chooses one of its plans by the sizes of a call.
struct PlannedFunction {
  PrimFunc func;
  std::vector<Plan> plans;  // at least one; the sizes grow, that of the last extent first
};

/// `func` scheduled by the rules: once for each likely value of a size, where its attribute has several and plans
/// differ in more than hints about prefetches.  A plan is for extents up to its value, the last one for all beyond:
/// plans are good at fewer rows than they are made for, but not at more.
///
/// The function's weights must lie as pack_weights_of_plans has them.
PlannedFunction plan_by_rules(const std::string& name, const PrimFunc& func, const Features& features);

/// pack_weights for a function that may have several plans.  All of them read the same panels: where plans want
/// different ones, the function keeps the last of the likely values alone.
PackedWeights pack_weights_of_plans(const PrimFunc& func, const std::vector<bool>& is_weight,
                                    const Features& features);

}  // namespace tilewright::schedule
