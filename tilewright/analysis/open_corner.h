// Refutation by counter-example with symbolic extents: ends of loops at which an index leaves its extent, for
// all sizes with which the loops run.
#pragma once
#include <optional>
#include <string>

#include "tilewright/analysis/corner.h"

namespace tilewright::analysis {

struct OpenCorner {
  PrimExpr index;      // the index at this corner
  std::string values;  // of the loops that the index uses: "i = n - 1"
};

/// A corner of `loops` (outermost first; ranges may use variables before it) at which `assumption` (may be
/// null) holds and `index` is outside of 0 .. extent - 1 for all sizes with which each loop runs; nullopt if
/// none can be shown.
std::optional<OpenCorner> open_corner_outside(const PrimExpr& index, const PrimExpr& extent,
                                              const PrimExpr& assumption,
                                              const std::vector<RangedVar>& loops);

}  // namespace tilewright::analysis
