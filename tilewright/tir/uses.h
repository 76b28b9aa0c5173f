// Which variables an expression has in it.
#pragma once
#include "tilewright/tir/tir.h"

namespace tilewright::tir {

/// Whether `expr`, which may be null, has the variable in it.
bool uses(const PrimExpr& expr, const VarNode* var);

}  // namespace tilewright::tir
