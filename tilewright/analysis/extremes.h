// The smallest and the largest value of an index, exactly, by the sizes that loops have.
#pragma once
#include <optional>

#include "tilewright/analysis/corner.h"
#include "tilewright/ir/rewrite.h"

namespace tilewright::analysis {

struct Extreme {
  PrimExpr value;
  Substitution at;  // the values of loop variables at which the index is that
};

struct Extremes {
  Extreme first, last;
  PrimExpr valid;  // where it does not hold nothing is known; null: always
};

/// Of `index` while each of `loops`, whose ranges use none of their variables, runs at least once; nothing
/// if they cannot be written down: memory is read, a variable counts twice, or an operator has its extremes
/// somewhere between.  The values are int32 or int64; their arithmetic is meant to be exact
/// (arith/expr_util.h, in_int64).
std::optional<Extremes> extremes(const PrimExpr& index, const std::vector<RangedVar>& loops);

}  // namespace tilewright::analysis
