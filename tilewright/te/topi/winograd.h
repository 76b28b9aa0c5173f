// Convolutions with fewer multiplications.
#pragma once
#include "tilewright/te/topi/conv.h"

namespace tilewright::topi {

/// For which convolutions sums of Winograd take less time than sums in order.
struct WinogradLimits {
  int64_t min_channels = 8;  // of inputs * outputs / (inputs + outputs)
  int64_t min_pixels = 36;   // of results in one image and channel
};
/// Whether conv2d_winograd computes what `conv` says of windows of `height` x `width`, and in less time.
///
/// inputs, outputs  channels
/// pixels           results in one image and channel
bool is_worth_winograd(const ConvOptions& conv, int64_t height, int64_t width, int64_t inputs,
                       int64_t outputs, int64_t pixels, const WinogradLimits& limits = {});

/// The convolution of `data` [n, h, w, c] with a kernel of 3 x 3, step 1: for a tile of m x m results
/// (m + 2)^2 multiplications where the definition has 9 m^2; m is 2 or 4.
///
/// weight   G w G^T for each pair of channels, [m + 2, m + 2, c, o]
/// padding  zeros before h and w, then after each
///
/// Source: A. Lavin, S. Gray, Fast algorithms for convolutional neural networks, arXiv 1509.09308, F(2x2,
/// 3x3) and F(4x4, 3x3); the latter with the points 0, 3/4, -3/4, 3/2, -3/2 and infinity, whose largest
/// errors are a quarter of those of 0, 1, -1, 2, -2 and infinity.
Tensor conv2d_winograd(const Tensor& data, const Tensor& weight, const std::vector<int64_t>& padding);

/// G for tiles of m x m: (m + 2) x 3 numbers, by rows.
std::span<const double> winograd_weight_matrix(int64_t m);

}  // namespace tilewright::topi
