// Tensors of integers of less than 8 bits, whose elements lie side by side in bytes, the first at the lowest
// bits, and tensors with a byte for each.
#pragma once
#include "tilewright/runtime/tensor.h"

namespace tilewright::runtime {

/// Whether elements of `dtype` share bytes: int4, uint4, int2, uint2, int1, uint1.
inline bool shares_bytes(DataType dtype) {
  return dtype.is_integral() && dtype.is_scalar() && dtype.bits < 8;
}

/// A tensor of `dtype`, whose elements share bytes, with the low bits of each element of `bytes` (int8 or
/// uint8).
Tensor pack_elements(const Tensor& bytes, DataType dtype);
/// The elements of `packed`, which share bytes, as int8 or uint8.
Tensor unpack_elements(const Tensor& packed);

}  // namespace tilewright::runtime
