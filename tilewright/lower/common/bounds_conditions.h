// What check_bounds asks of programs.
#pragma once
#include <vector>

#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

/// Whether the value of `expr` is the same between two statements: it reads no memory.
bool is_stable(const PrimExpr& expr);
/// Lane n of a vector, as simple as can be.
PrimExpr lane(const PrimExpr& vector, int64_t n);
/// The bits from the first element of `buffer` to its end.
PrimExpr size_in_bits(const Buffer& buffer);
/// The conditions of which all hold where `stmt` reports an error; empty if it is no such statement.
std::vector<PrimExpr> error_conditions(const Stmt& stmt);
/// Whether an index or extent in `stmt` has `var` in it, or a variable that is made of it.
bool feeds_index(const VarNode* var, const Stmt& stmt);

}  // namespace tilewright::lower
