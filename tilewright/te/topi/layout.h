// Tensors laid out by an index map: the element i is stored at map(i).
#pragma once
#include <string>

#include "tilewright/arith/iter_map.h"
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::topi {

/// An index map applied to tensors of one shape: each new index begins at 0.
struct MappedLayout {
  Shape shape;               // one more than the largest value of each new index
  arith::IterRanges ranges;  // the old indices, int64, extended to multiples of what the map divides by
  arith::IterMap map;        // maps them to the new indices
  std::string problem;       // why tensors cannot have this layout; empty if they can
};
MappedLayout map_layout(const tir::IndexMap& map, const Shape& extents);

/// `x` laid out by `layout`; positions that no element of x maps to hold `pad`.
Tensor layout_transform(const Tensor& x, const MappedLayout& layout, const PrimExpr& pad);

}  // namespace tilewright::topi
