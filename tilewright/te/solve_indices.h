// Solves equations between indices for the axes in them.
//   i + k == a, k one of 0, 1, 2    ->    i = a - k where 0 <= a - k < n; k is left
#pragma once
#include <utility>
#include <vector>

#include "tilewright/ir/rewrite.h"
#include "tilewright/te/compute.h"

namespace tilewright::te {

/// left == right
using IndexEquation = std::pair<PrimExpr, PrimExpr>;

struct SolvedIndices {
  Substitution values;              // of axes that equations determine, in terms of the others
  std::vector<IterVar> left;        // axes that none determines
  std::vector<PrimExpr> conditions;  // what the other variables must satisfy for there to be a solution
};

/// Every value of `axes` for which `equations` hold is one of `left` for which the conditions hold, and the other way
/// around.  An equation that is not linear in an axis becomes a condition.
SolvedIndices solve_indices(std::vector<IndexEquation> equations, const std::vector<IterVar>& axes);

}  // namespace tilewright::te
