// Quick questions about scalar expressions as trees.
#pragma once
#include <functional>

#include "tilewright/tir/tir.h"

namespace tilewright::arith {
using namespace tir;

/// True only if both are the same tree with the same variables; false also when the trees are too large to
/// tell.
bool same_expr(const PrimExpr& a, const PrimExpr& b);
/// How much there is to compute: one for each operation, more for divisions and products of variables;
/// saturates for large trees.
int64_t cost(const PrimExpr& expr);
/// Whether `holds(node)` for some node of `expr`; parts below a node for which it holds are not looked at.
bool any_node(const PrimExpr& expr, const std::function<bool(const Object*)>& holds);
/// True only if `expr` can be evaluated for any values of its variables: no division by zero, no access to
/// memory.
bool is_harmless(const PrimExpr& expr);
/// True only if the integer `expr` is 0 for all values of its variables: 0, n - n,
/// T.Cast("int32", 0).
bool is_always_zero(const PrimExpr& expr);

}  // namespace tilewright::arith
