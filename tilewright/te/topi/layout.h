// Tensors laid out by an index map: the element at i stands at map(i).
#pragma once
#include <string>

#include "tilewright/arith/iter_map.h"
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::topi {

/// What an index map makes of tensors of one shape: each new index begins at 0.
struct MappedLayout {
  Shape shape;               // one more than the largest value of each new index
  arith::IterRanges ranges;  // the old indices, int64, enlarged so that the map cuts them into equal parts
  arith::IterMap map;        // from them to the new indices
  std::string problem;       // why tensors cannot be laid out so; empty if they can
};
MappedLayout map_layout(const tir::IndexMap& map, const Shape& extents);

/// x laid out by `layout`; elements that x does not have are `pad`.
Tensor layout_transform(const Tensor& x, const MappedLayout& layout, const PrimExpr& pad);

}  // namespace tilewright::topi
