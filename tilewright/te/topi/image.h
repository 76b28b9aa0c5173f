// Sampling of images at the coordinates of a grid.
#pragma once
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::topi {

struct GridSampleOptions {
  std::string method = "bilinear", padding = "zeros";  // nearest, bicubic; border, reflection
  bool align_corners = true;
};
/// x [n, c, h, w] sampled at the coordinates grid [n, 2, oh, ow] of (x, y) in -1 .. 1, or
/// x [n, c, d, h, w] at grid [n, 3, od, oh, ow] of (x, y, z).
/// Source: torch.nn.functional.grid_sample, Jaderberg et al., arXiv 1506.02025
Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridSampleOptions& options);
/// The coordinates theta . (x, y, 1) or theta . (x, y, z, 1) of a grid; -1 and 1 are the centres of the
/// corner elements (`align_corners`) or their outer edges.
///
/// theta  [n, 2, 3], or [n, 3, 4]
/// size   [height, width], or [depth, height, width]
Tensor affine_grid(const Tensor& theta, const Shape& size, bool align_corners);

/// The windows of a convolution, each element moved by an offset.
struct DeformedWindows {
  std::vector<int64_t> kernel, strides, dilations,
      before;          // of each spatial dimension; before: of the padding
  Shape extents;       // the number of windows along each
  int64_t groups = 1;  // of channels that share offsets
};
/// The elements of windows over pictures of extents `size`, interpolated, 0 outside: [n, windows .., elements of a
/// window, groups, channels of a group].  Channels stand last, so that those of an element are read together.
/// Source: Dai et al., Deformable Convolutional Networks, arXiv 1703.06211; masks: arXiv 1811.11168
///
/// x       [n, product of size, channels]
/// offset  [n, groups * elements * spatial dimensions, windows ..]
/// mask    [n, groups * elements, windows ..], factors of the elements; may be null
Tensor deformed_columns(const Tensor& x, const Shape& size, const Tensor& offset, const Tensor& mask,
                        const DeformedWindows& windows);

}  // namespace tilewright::topi
