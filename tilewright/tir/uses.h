// The use of variables in expressions.
#pragma once
#include "tilewright/tir/tir.h"

namespace tilewright::tir {

/// True if `expr`, which may be null, uses the variable.
bool uses(const PrimExpr& expr, const VarNode* var);

}  // namespace tilewright::tir
