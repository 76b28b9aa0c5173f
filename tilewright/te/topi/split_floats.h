// Products of numbers that are stored as sums of parts, the largest first: a float32 is the sum of three
// bfloat16.
#pragma once
#include "tilewright/te/topi/conv.h"

namespace tilewright::topi {

/// The sum over all parts a and b with a + b <= order of matmul(x[a], w[b]).
///
/// x      [.., m, k], whose parts this takes: as many and of the dtype as those of w
/// w      [parts, .., k, n]; its batch dimensions are broadcast
/// order  0 .. 2 * (parts - 1)
Tensor matmul_of_parts(const Tensor& x, const Tensor& w, int64_t order, DataType out_dtype);
/// The same of convolutions: data is [n, places.., c], weight [parts, window.., c, o].
///
/// options  strides, padding and dilation; layouts and groups say nothing
Tensor conv_of_parts(const Tensor& data, const Tensor& weight, int64_t order, const ConvOptions& options);

}  // namespace tilewright::topi
