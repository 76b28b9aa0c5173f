// Constant weights of few bits: from what R.dequantize takes to what R.dequantize_matmul reads.
#pragma once
#include <array>
#include <optional>

#include "tilewright/relax/relax.h"

namespace tilewright::relax {

/// A call of R.dequantize of a constant matrix: its numbers, scales and zero points.
struct Dequantized {
  Call call;
  std::array<runtime::Tensor, 3> constants;
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
