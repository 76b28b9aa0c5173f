// Pictures: sampling at the places of a grid.
#pragma once
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::topi {

struct GridSampleOptions {
  std::string method = "bilinear", padding = "zeros";  // nearest, bicubic; border, reflection
  bool align_corners = true;
};
/// x [n, c, h, w] at the places grid [n, 2, oh, ow] of (x, y) in -1 .. 1.
/// Source: torch.nn.functional.grid_sample, Jaderberg et al., arXiv 1506.02025
Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridSampleOptions& options);
/// The places theta [n, 2, 3] . (x, y, 1) for x, y of the grid of `size` = [height, width], or theta [n, 3,
/// 4] . (x, y, z, 1) of [depth, height, width]; -1 and 1 are the centres of corners, or their outer edges.
Tensor affine_grid(const Tensor& theta, const Shape& size, bool align_corners);

}  // namespace tilewright::topi
