// Quick comparisons of scalar expressions as trees.
#pragma once
#include "tilewright/tir/tir.h"

namespace tilewright::arith {
using namespace tir;

/// True only if both are the same tree with the same variables; false also when the trees are too large to tell.
bool same_expr(const PrimExpr& a, const PrimExpr& b);
/// How much there is to compute: one for each operation, more for divisions; saturates for large trees.
int64_t cost(const PrimExpr& expr);

}  // namespace tilewright::arith
