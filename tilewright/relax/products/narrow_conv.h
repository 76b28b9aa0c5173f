// Convolutions of images with few channels, as the first ones of networks.
#pragma once
#include "tilewright/relax/graph/relax.h"

namespace tilewright::relax {

/// The same convolution over rows of numbers instead of pixels, whose windows are long enough for
/// instructions that multiply groups: of a window of 7 x 7 with 3 channels, 7 rows of 21 numbers that lie
/// behind each other.
///   R.nn.conv2d(x, w, strides=[2, 2])  ->  R.nn.conv2d(R.reshape(x, (n, h, w * 3, 1)), w1, strides=[2, 6])
/// Where the numbers of a row are odd, a zero of the weight multiplies the one behind them: an infinity there
/// gives NaN.
/// Null if `call` is no such convolution: conv2d of float32, NHWC and HWIO, with up to 7 channels, a constant
/// weight, known extents, one group and no dilation of rows, whose result fills tiles.
///
/// call        with its types
/// args        of the result, data and weight
/// most_terms  numbers of a row of a window, at most
Expr conv_over_rows(const Call& call, const std::vector<Expr>& args, int64_t most_terms);

}  // namespace tilewright::relax
