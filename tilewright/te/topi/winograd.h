// Winograd's convolutions, which need fewer multiplications.
#pragma once
#include "tilewright/te/topi/conv.h"

namespace tilewright::topi {

/// The limits above which Winograd's algorithm takes less time than direct convolution.
struct WinogradLimits {
  int64_t min_channels = 8;  // inputs * outputs / (inputs + outputs), of channels
  int64_t min_pixels = 36;   // pixels of the result per image and channel
};
/// True if conv2d_winograd can compute `conv` with windows of `height` x `width`, and takes less time.
///
/// inputs, outputs  channels
/// pixels           of the result, per image and channel
bool is_worth_winograd(const ConvOptions& conv, int64_t height, int64_t width, int64_t inputs,
                       int64_t outputs, int64_t pixels, const WinogradLimits& limits = {});

/// The convolution of `data` [n, h, w, c] with a 3 x 3 kernel, stride 1: a tile of m x m results takes
/// (m + 2)^2 multiplications where the direct form takes 9 m^2; m is 2 or 4.
///
/// weight   G w G^T for each pair of channels, [m + 2, m + 2, c, o]
/// padding  zeros before h and w, then after each
///
/// Source: A. Lavin, S. Gray, Fast algorithms for convolutional neural networks, arXiv 1509.09308, F(2x2,
/// 3x3) and F(4x4, 3x3); the latter with the points 0, 3/4, -3/4, 3/2, -3/2 and infinity, whose largest
/// errors are a quarter of those of 0, 1, -1, 2, -2 and infinity.
Tensor conv2d_winograd(const Tensor& data, const Tensor& weight, const std::vector<int64_t>& padding);

/// The matrix G for tiles of m x m: (m + 2) x 3 values in row-major order.
std::span<const double> winograd_weight_matrix(int64_t m);

}  // namespace tilewright::topi
