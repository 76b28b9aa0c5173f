// The exact smallest and largest value of an index, as expressions of the loops' sizes.
#pragma once
#include <optional>

#include "tilewright/analysis/corner.h"
#include "tilewright/ir/rewrite.h"

namespace tilewright::analysis {

struct Extreme {
  PrimExpr value;
  Substitution at;  // the values of the loop variables at which the index has this value
};

struct Extremes {
  Extreme first, last;
  PrimExpr valid;  // if it does not hold nothing is known; null: always holds
};

/// The extremes of `index` while each of `loops` runs at least once; the loops' ranges use none of their
/// variables. Nullopt if they cannot be expressed: memory is read, a variable occurs twice, or an operator
/// has its extremes in between.  The values are int32 or int64; their arithmetic must be exact
/// (arith/expr_util.h, in_int64).
std::optional<Extremes> extremes(const PrimExpr& index, const std::vector<RangedVar>& loops);

}  // namespace tilewright::analysis
