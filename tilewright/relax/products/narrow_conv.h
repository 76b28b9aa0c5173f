// Convolutions of images with few channels, like the first ones of networks.
#pragma once
#include "tilewright/relax/graph/relax.h"

namespace tilewright::relax {

/// The same convolution over rows of values instead of pixels, so that its windows are long enough for
/// instructions that multiply groups: a window of 7 x 7 with 3 channels becomes 7 rows of 21 adjacent values.
///   R.nn.conv2d(x, w, strides=[2, 2])  ->  R.nn.conv2d(R.reshape(x, (n, h, w * 3, 1)), w1, strides=[2, 6])
/// If a row has an odd number of values, the next value is multiplied by a zero of the weight: an infinity
/// there gives NaN.
/// Null unless `call` is a float32 conv2d, NHWC and HWIO, with up to 7 channels, a constant weight, known
/// extents, one group and no dilation of rows, whose result fills matrix tiles.
///
/// call        with its types
/// args        data and weight for the result
/// most_terms  upper limit of the values in a row of a window
Expr conv_over_rows(const Call& call, const std::vector<Expr>& args, int64_t most_terms);

}  // namespace tilewright::relax
