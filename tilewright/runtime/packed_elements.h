// Conversion between tensors of elements of less than 8 bits, which are packed into bytes starting at the
// lowest bits, and tensors with one byte per element.
#pragma once
#include "tilewright/runtime/tensor.h"

namespace tilewright::runtime {

/// True if several elements of `dtype` share a byte: int4, uint4, int2, uint2, int1, uint1, float4_e2m1fn.
inline bool shares_bytes(DataType dtype) {
  return (dtype.is_integral() || dtype.is_float()) && dtype.is_scalar() && dtype.bits < 8;
}

/// A packed tensor of `dtype` from the low bits of each element of `bytes` (int8 or uint8).
Tensor pack_elements(const Tensor& bytes, DataType dtype);
/// The elements of `packed`, a packed tensor, as int8 or uint8; of floats their bits, as uint8.
Tensor unpack_elements(const Tensor& packed);

}  // namespace tilewright::runtime
