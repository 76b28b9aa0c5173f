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
};

/// Of `index` while each of `loops`, whose ranges use none of their variables, runs at least once; nothing
/// if they cannot be written down: memory is read, a variable counts twice, or an operator has its extremes
/// somewhere between.
std::optional<Extremes> extremes(const PrimExpr& index, const std::vector<RangedVar>& loops);

}  // namespace tilewright::analysis
