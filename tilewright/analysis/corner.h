// Refutation by counter-example: values of loop variables at the ends of their ranges that make a condition
// false.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tilewright/tir/tir.h"

namespace tilewright::analysis {
using namespace tir;

/// A variable and its range.
using RangedVar = std::pair<Var, Range>;
/// True if `expr`, which may be null, has the variable of one of `loops` in it.
bool uses_any(const PrimExpr& expr, const std::vector<RangedVar>& loops);

/// The value of `expr` with the given values of variables; nullopt if it uses other variables, memory or
/// calls.
std::optional<int64_t> evaluate_at(const PrimExpr& expr,
                                   const std::vector<std::pair<const VarNode*, int64_t>>& values);

/// Values for `vars` at which `assumption` (may be null) holds and `condition` does not.  Each value is the
/// first or last of its range (ranges may use variables before it), or, if a quotient or remainder of the
/// variable is taken, one of the first in between.  Nullopt if there are none or the condition cannot be
/// evaluated. For linear conditions, these corners decide.
std::optional<std::vector<std::pair<const VarNode*, int64_t>>> corner_against(
    const PrimExpr& condition, const PrimExpr& assumption, const std::vector<RangedVar>& vars);

/// "i = 3, j = 7"
std::string values_text(const std::vector<std::pair<const VarNode*, int64_t>>& values);

}  // namespace tilewright::analysis
