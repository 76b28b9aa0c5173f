// Convolutions with fewer multiplications.
#pragma once
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::topi {

/// The convolution of `data` [n, h, w, c] with a kernel of 3 x 3, step 1: 16 multiplications for a tile of
/// 2 x 2 results where the definition has 36.
///
/// weight   G w G^T for each pair of channels, [4, 4, c, o]; winograd_weight makes it
/// padding  zeros before h and w, then after each
///
/// Source: A. Lavin, S. Gray, Fast algorithms for convolutional neural networks, arXiv 1509.09308, F(2x2,
/// 3x3).
Tensor conv2d_winograd(const Tensor& data, const Tensor& weight, const std::vector<int64_t>& padding);

/// G: 4 x 3 numbers, by rows.
std::span<const double> winograd_weight_matrix();

}  // namespace tilewright::topi
