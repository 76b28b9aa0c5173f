// The variables in an expression, and the buffers of regions.
#pragma once
#include <functional>

#include "tilewright/tir/tir.h"

namespace tilewright::tir {

/// True if `expr`, which may be null, uses the variable.
bool uses(const PrimExpr& expr, const VarNode* var);
/// True if an expression of `stmt` uses it.
bool uses(const Stmt& stmt, const VarNode* var);
/// True if `expr`, which may be null, has a variable in it for which `is_meant` holds.
bool uses_any(const PrimExpr& expr, const std::function<bool(const VarNode*)>& is_meant);
/// True if it has one of `vars` in it.
bool uses_any(const PrimExpr& expr, const std::vector<Var>& vars);

/// True if one of the regions is of `buffer`.
bool has_region_of(const std::vector<BufferRegion>& regions, const BufferNode* buffer);

}  // namespace tilewright::tir
