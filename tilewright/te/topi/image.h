// Sampling of images at the coordinates of a grid.
#pragma once
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::topi {

struct GridSampleOptions {
  std::string method = "bilinear", padding = "zeros";  // nearest, bicubic; border, reflection
  bool align_corners = true;
};
/// x [n, c, h, w] sampled at the coordinates grid [n, 2, oh, ow] of (x, y) in -1 .. 1.
/// Source: torch.nn.functional.grid_sample, Jaderberg et al., arXiv 1506.02025
Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridSampleOptions& options);
/// The coordinates theta . (x, y, 1) or theta . (x, y, z, 1) of a grid; -1 and 1 are the centres of the
/// corner elements (`align_corners`) or their outer edges.
///
/// theta  [n, 2, 3], or [n, 3, 4]
/// size   [height, width], or [depth, height, width]
Tensor affine_grid(const Tensor& theta, const Shape& size, bool align_corners);

}  // namespace tilewright::topi
