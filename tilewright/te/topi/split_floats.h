// Products of values that are stored as sums of parts, the largest first: a float32 is the sum of three
// bfloat16.
#pragma once
#include "tilewright/te/topi/conv.h"

namespace tilewright::topi {

/// The sum over all parts a and b with a + b <= order of matmul(x[a], w[b]).
///
/// x      [.., m, k]; it is split here into as many parts as w has, of the same dtype
/// w      [parts, .., k, n]; its batch dimensions are broadcast
/// order  0 .. 2 * (parts - 1)
Tensor matmul_of_parts(const Tensor& x, const Tensor& w, int64_t order, DataType out_dtype);
/// The same for convolutions: data is [n, spatial.., c], weight [parts, window.., c, o].
///
/// options  strides, padding and dilation; layouts and groups are ignored
Tensor conv_of_parts(const Tensor& data, const Tensor& weight, int64_t order, const ConvOptions& options);

}  // namespace tilewright::topi
