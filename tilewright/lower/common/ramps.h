// Helpers for vector indices with constant stride.
#pragma once
#include "tilewright/tir/builder.h"

namespace tilewright::lower {

/// The ramp with the same stride and lanes that starts at `base`, a scalar of any integer dtype.
inline tir::Ramp with_base(const tir::RampNode* ramp, const tir::PrimExpr& base) {
  return tir::RampNode::make(base, tir::cast(base->dtype, ramp->stride), ramp->lanes);
}

}  // namespace tilewright::lower
