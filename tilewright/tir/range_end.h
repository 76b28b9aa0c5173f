// Ranges as scripts write them: where they begin and end.
#pragma once
#include "tilewright/tir/tir.h"

namespace tilewright::tir {

/// `end` such that extent_to(min, end) is `extent` again: n for n - min, else min + extent.
PrimExpr end_of(const PrimExpr& min, const PrimExpr& extent);
/// The extent of min:end: what was added to `min`, else the difference.
PrimExpr extent_to(const PrimExpr& min, const PrimExpr& end);

}  // namespace tilewright::tir
