// Vector indices of equal steps.
#pragma once
#include "tilewright/tir/builder.h"

namespace tilewright::lower {

/// The same steps from `base` on, a scalar of any integer dtype.
inline tir::Ramp with_base(const tir::RampNode* ramp, const tir::PrimExpr& base) {
  return tir::RampNode::make(base, tir::cast(base->dtype, ramp->stride), ramp->lanes);
}

}  // namespace tilewright::lower
