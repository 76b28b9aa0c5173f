// Constant weights of few bits: from what R.dequantize takes to what R.dequantize_matmul reads.
#pragma once
#include <array>
#include <optional>

#include "tilewright/relax/graph/type_util.h"

namespace tilewright::relax {

/// Whether a product of x, of shape `x`, by a weight of `num_weights` elements takes as long as the weight
/// takes to be read: it has at least `min_bytes` in float32 for each row.  A number of rows that is not known
/// is taken for one: such extents are those of what is generated step by step.
bool is_bound_by_weight(const Shape& x, int64_t num_weights, int64_t min_bytes);

/// The numbers of `tensor`, which is compact; empty for other dtypes than float16, bfloat16, float32, int8,
/// uint8, int32 and integers of less than 8 bits.
std::vector<float> numbers_of(const runtime::Tensor& tensor);

/// A call of R.dequantize of a constant matrix: its numbers, scales and zero points.
struct Dequantized {
  Call call;
  std::array<Constant, 3> constants;
  bool is_transposed = false;  // its rows are the columns of what is multiplied
};

/// The operands of R.dequantize_matmul.
struct QuantizedWeight {
  runtime::Tensor data, scale;
  std::optional<runtime::Tensor> zero_point;
};

/// The same weight; nothing if it has other dtypes than int8, uint8, int4 and uint4, zero points that are
/// none of these, or scales along rows that are not in blocks of at least 8 (of 4 bits: of a multiple of 8).
std::optional<QuantizedWeight> quantized_weight(const Dequantized& weight);

}  // namespace tilewright::relax
