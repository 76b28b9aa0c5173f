// Values of quantized graphs: bytes that stand for real numbers, and the parameters that say which.
#pragma once
#include <optional>
#include <vector>

#include "tilewright/relax/products/integer_sums.h"

namespace tilewright::relax {

inline bool is_byte(DataType dtype) { return dtype == kInt8 || dtype == kUint8; }

/// The values of a constant; empty for dtypes other than those of quantization, and for other expressions.
std::vector<double> numbers_of(const Expr& expr);

/// A variable with the value (values - zero) * scale.
struct Quantized {
  Expr values;  // of dtype
  DataType dtype;
  Expr scale;                        // a constant
  std::vector<double> scales, zero;  // one number, or one per index of dimension `axis`
  int64_t axis = 0;
  /// True if there is one scale, which is positive and has a reciprocal, and one zero point.
  bool is_scalar() const;
  /// True if both stand for the same numbers by the same bytes.
  bool has_parameters_of(const Quantized& other) const {
    return dtype == other.dtype && scales == other.scales && zero == other.zero;
  }
};

/// The parameters of `call` of quantize or dequantize for values of `dtype`; nullopt if they are unknown, or
/// if zero points are out of the range of `dtype` and so cannot be part of sums of bytes.
std::optional<Quantized> parameters_of(const CallNode* call, DataType dtype);

/// `x`, a constant, as int8 with the zero points 0, or as int8 where its values less these do not fit; otherwise `x`.
Quantized centered(const Quantized& x);

/// The number that `x`, which is_scalar, stands for, as an expression.
Expr dequantized(const Quantized& x);

}  // namespace tilewright::relax
