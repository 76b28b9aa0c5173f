// How often loops turn.
#pragma once
#include "tilewright/tir/builder.h"

namespace tilewright::analysis {

/// Whether a loop of this extent surely turns: it is a constant above 0.
inline bool turns_at_least_once(const ir::PrimExpr& extent) {
  int64_t count;
  return tir::as_const_int(extent, &count) && count > 0;
}

}  // namespace tilewright::analysis
