// Simple properties of scalar expression trees.
#pragma once
#include <functional>
#include <vector>

#include "tilewright/tir/tir.h"

namespace tilewright::arith {
using namespace tir;

/// True only if both are the same tree with the same variables; also false if the trees are too large to
/// compare.
bool same_expr(const PrimExpr& a, const PrimExpr& b);
/// The cost of computing `expr`: one per operation, more for divisions and products of variables; saturates
/// for large trees.
int64_t cost(const PrimExpr& expr);
/// True if `holds(node)` for some node of `expr`; does not enter a node for which it holds.
bool any_node(const PrimExpr& expr, const std::function<bool(const Object*)>& holds);
/// True if `expr` reads memory or calls what is not pure, so that its value depends on when it is computed.
bool reads_memory(const PrimExpr& expr);
/// True only if `expr` can be evaluated for all values of its variables: no division by zero, no memory
/// access.
bool is_harmless(const PrimExpr& expr);
/// True if `expr` depends only on its variables: no memory, no machine state, and only pure functions.
bool is_arithmetic(const PrimExpr& expr);
/// `node` if it is an integer division or remainder whose divisor may be 0 (not a constant other than 0);
/// else null.
const BinaryOpNode* as_open_division(const PrimExprNode* node);
/// The divisions as_open_division accepts that are computed whenever `expr` is, operands first: none in a
/// branch of a select or behind a condition.
std::vector<const BinaryOpNode*> sure_divisions(const PrimExpr& expr);
/// `expr`, a condition or an index, computed in int64 instead of int32, so that it does not wrap around.
PrimExpr in_int64(const PrimExpr& expr);
/// True only if the integer `expr` is 0 for all values of its variables: 0, n - n,
/// T.Cast("int32", 0).
bool is_always_zero(const PrimExpr& expr);

}  // namespace tilewright::arith
