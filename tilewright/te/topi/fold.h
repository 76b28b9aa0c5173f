// Pictures of overlapping blocks.
#pragma once
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::topi {

struct Blocks {
  std::vector<int64_t> kernel, strides, dilations,
      before;    // of each spatial dimension; before: of the padding
  Shape counts;  // the number of blocks along each
};
/// x [n, c * elements of a block, blocks] added up to a picture [n, c, size ..]; blocks and their elements are
/// in row-major order.  Source: torch.nn.functional.fold
Tensor fold(const Tensor& x, const Shape& size, const Blocks& blocks);

}  // namespace tilewright::topi
