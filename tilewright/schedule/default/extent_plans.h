// Several plans of one function, for extents that are known only when it is called.
#pragma once
#include "tilewright/schedule/default/default.h"

namespace tilewright::schedule {

/// The values of a size that a plan is for.
struct PlannedExtent {
  std::string name;
  int64_t first;              // up to where the next plan begins; the first plan takes 0 as well
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
/// differ in more than hints about prefetches.  The plan for the next value begins where the extent is nearer to
/// it, as a factor.
PlannedFunction plan_by_rules(const std::string& name, const PrimFunc& func, const Features& features);

}  // namespace tilewright::schedule
