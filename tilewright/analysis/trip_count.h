// The number of iterations of loops.
#pragma once
#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/services.h"
#include "tilewright/tir/builder.h"

namespace tilewright::analysis {
using namespace tir;

/// True if a loop of this extent surely runs: the extent is a constant above 0.
inline bool surely_runs(const PrimExpr& extent) {
  int64_t count;
  return as_const_int(extent, &count) && count > 0;
}

/// True if loops of these extents have equally many iterations: as numbers, whatever their dtypes are, or as equal
/// expressions.
inline bool are_equal_extents(const PrimExpr& a, const PrimExpr& b) {
  int64_t count;
  return as_const_int(a, &count) ? is_const_int(b, count) : ir::structural_equal(a, b);
}

/// Tells `analyzer` that a loop of this extent runs at least once, so that no factor of the extent is 0.
inline void require_an_iteration(arith::Analyzer* analyzer, const PrimExpr& extent) {
  if (!arith::is_index(extent->dtype)) return;
  analyzer->require(extent >= 1);
  if (const auto* product = extent.as<MulNode>()) {
    for (const PrimExpr& factor : {product->a, product->b}) {
      if (analyzer->can_prove(factor >= 0)) require_an_iteration(analyzer, factor);
    }
  }
}

}  // namespace tilewright::analysis
