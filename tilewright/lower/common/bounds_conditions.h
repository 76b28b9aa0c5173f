// Conditions that check_bounds needs.
#pragma once
#include <vector>

#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

/// True if the value of `expr` does not change between two statements: it reads no memory.
bool is_stable(const PrimExpr& expr);
/// Lane n of a vector, simplified.
PrimExpr lane(const PrimExpr& vector, int64_t n);
/// The number of bits from the first element of `buffer` to its end.
PrimExpr size_in_bits(const Buffer& buffer);
/// Conditions that all hold if `stmt` reports an error; empty if it is not such a statement.
std::vector<PrimExpr> error_conditions(const Stmt& stmt);
/// True if an index or extent in `stmt` contains `var`, or a variable defined from it.
bool feeds_index(const VarNode* var, const Stmt& stmt);

}  // namespace tilewright::lower
