// Refutation by example where extents are open: ends of loops at which an index leaves its extent, whatever
// the sizes are with which the loops run.
#pragma once
#include <optional>
#include <string>

#include "tilewright/analysis/corner.h"

namespace tilewright::analysis {

struct OpenCorner {
  PrimExpr index;      // its value there
  std::string values;  // of the loops that it uses: "i = n - 1"
};

/// A corner of `loops` (outermost first; ranges may use variables before it) at which `assumption` (may be
/// null) holds and `index` is surely outside of 0 .. extent - 1 for all sizes with which each loop runs;
/// nothing if that can be shown of none.
std::optional<OpenCorner> open_corner_outside(const PrimExpr& index, const PrimExpr& extent,
                                              const PrimExpr& assumption,
                                              const std::vector<RangedVar>& loops);

}  // namespace tilewright::analysis
