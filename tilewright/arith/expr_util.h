// Quick questions about scalar expressions as trees.
#pragma once
#include <functional>
#include <vector>

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
/// True if `expr` reads memory or calls what is not pure, so that its value depends on when it is computed.
bool reads_memory(const PrimExpr& expr);
/// True only if `expr` can be evaluated for any values of its variables: no division by zero, no access to
/// memory.
bool is_harmless(const PrimExpr& expr);
/// Whether `expr` depends on its variables alone: no memory, nothing of the machine, and only pure functions
/// of numbers.
bool is_arithmetic(const PrimExpr& expr);
/// `node` if it is a division or remainder of integers by what is no constant but 0; else null.
const BinaryOpNode* as_open_division(const PrimExprNode* node);
/// The open divisions of `expr` that are computed whenever it is, operands first: none in a branch of a
/// choice or behind a condition.
std::vector<const BinaryOpNode*> sure_divisions(const PrimExpr& expr);
/// `expr`, a condition or an index, with the arithmetic of int32 done in int64, where it does not wrap.
PrimExpr in_int64(const PrimExpr& expr);
/// True only if the integer `expr` is 0 for all values of its variables: 0, n - n,
/// T.Cast("int32", 0).
bool is_always_zero(const PrimExpr& expr);

}  // namespace tilewright::arith
