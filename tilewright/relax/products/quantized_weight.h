// Constant weights of few bits: converts the operands of R.dequantize to those of R.dequantize_matmul.
#pragma once
#include <array>
#include <optional>

#include "tilewright/relax/graph/type_util.h"

namespace tilewright::relax {

/// True if reading the weight limits the time of a product of x, of shape `x`, with a weight of `num_weights`
/// elements: the weight has at least `min_bytes` in float32 for each row of x.  An unknown number of rows
/// counts as one, as in graphs that generate tokens one by one.
bool is_bound_by_weight(const Shape& x, int64_t num_weights, int64_t min_bytes);

/// The values of `tensor`, which is compact; empty for dtypes other than float16, bfloat16, float32, int8,
/// uint8, int32 and integers of less than 8 bits.
std::vector<float> numbers_of(const runtime::Tensor& tensor);

/// A call of R.dequantize on a constant matrix: its values, scales and zero points.
struct Dequantized {
  Call call;
  std::array<Constant, 3> constants;
  bool is_transposed = false;  // its rows are the columns of the factor
};

/// The operands of R.dequantize_matmul.
struct QuantizedWeight {
  runtime::Tensor data, scale;
  std::optional<runtime::Tensor> zero_point;
};

/// The same weight; nullopt for dtypes other than int8, uint8, int4 and uint4, zero points of other dtypes,
/// or scales along rows in blocks of less than 8 rows (4 bits: not a multiple of 8).
std::optional<QuantizedWeight> quantized_weight(const Dequantized& weight);

}  // namespace tilewright::relax
