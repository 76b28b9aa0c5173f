// Refutation by example: values of loop variables at the ends of their ranges that make a condition false.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tilewright/tir/tir.h"

namespace tilewright::analysis {
using namespace tir;

/// A variable and the range it runs over.
using RangedVar = std::pair<Var, Range>;
/// True if `expr`, which may be null, has the variable of one of `loops` in it.
bool uses_any(const PrimExpr& expr, const std::vector<RangedVar>& loops);

/// The value of `expr` where each variable has the value given; nothing if it uses others, memory or calls.
std::optional<int64_t> evaluate_at(const PrimExpr& expr,
                                   const std::vector<std::pair<const VarNode*, int64_t>>& values);

/// Values for `vars`, each the first or last of its range (ranges may use variables before it), or one of the
/// first in between where a quotient or remainder is taken of it, at which
/// `assumption` (may be null) holds and `condition` does not; nothing if there are none or they cannot be
/// evaluated.  For conditions that are linear these corners decide.
std::optional<std::vector<std::pair<const VarNode*, int64_t>>> corner_against(
    const PrimExpr& condition, const PrimExpr& assumption, const std::vector<RangedVar>& vars);

/// "i = 3, j = 7"
std::string values_text(const std::vector<std::pair<const VarNode*, int64_t>>& values);

}  // namespace tilewright::analysis
