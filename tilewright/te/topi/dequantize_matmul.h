// Matrix products with weights that are stored as integers of few bits.
#pragma once
#include "tilewright/te/compute.h"

namespace tilewright::topi {
using te::Shape;
using te::Tensor;

/// A quantized matrix [k, n] with the values (number - zero point) * scale; each `group_size` numbers along k
/// share a scale and a zero point.
struct QuantizedMatrix {
  Tensor numbers;     // bits 8: int8 [k, n]; bits 4: int32 [k / 8, n], the first of eight in the lowest bits
  Tensor scale;       // [num_groups, n]
  Tensor zero_point;  // int8 [num_groups, n]; null: 0
  int64_t bits = 8;
};

/// The count of numbers along k that are packed in an element of `numbers`.
inline int64_t numbers_per_element(int64_t bits) { return bits == 4 ? 8 : 1; }

/// x [.., k] times the matrix, in `out_dtype`, summed in float32: the sum of each group times its scale.  The
/// last group and the last element of `numbers` may extend beyond k; what lies there is not read.
Tensor dequantize_matmul(const Tensor& x, const QuantizedMatrix& matrix, DataType out_dtype);

}  // namespace tilewright::topi
