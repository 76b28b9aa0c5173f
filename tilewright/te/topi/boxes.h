// Boxes of object detectors: boxes and scores decoded from the outputs of networks and their anchors.
#pragma once
#include <array>

#include "tilewright/te/topi/elementwise.h"

namespace tilewright::topi {

struct MultiboxOptions {
  bool clip = false;
  double threshold = 0;                         // scores below it are 0
  std::array<double, 4> variances{1, 1, 1, 1};  // of x, y, width and height
  bool keep_background = true;                  // otherwise scores of class 0 are 0
  bool is_logits = true;                        // otherwise the input has scores
};
/// Boxes [b, n, 4] of (top, left, bottom, right): anchors [1, n, 4] of (left, top, right, bottom) moved by
/// offsets [b, 4 * n] of (x, y, width, height).  Source: Liu et al., SSD (arXiv 1512.02325), section 2.2
Tensor multibox_boxes(const Tensor& offsets, const Tensor& anchors, const MultiboxOptions& options);
/// The softmax of logits [b, classes, n] over their classes, without those that `options` drop.
Tensor multibox_scores(const Tensor& logits, const MultiboxOptions& options);

}  // namespace tilewright::topi
