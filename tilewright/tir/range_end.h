// The beginnings and ends of ranges as scripts write them.
#pragma once
#include "tilewright/tir/tir.h"

namespace tilewright::tir {

/// The `end` for which extent_to(min, end) is `extent` again: n if `extent` is n - min, else min + extent.
PrimExpr end_of(const PrimExpr& min, const PrimExpr& extent);
/// The extent of min:end: x if `end` is min + x, else end - min.
PrimExpr extent_to(const PrimExpr& min, const PrimExpr& end);

}  // namespace tilewright::tir
