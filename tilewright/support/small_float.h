// 8- and 16-bit float formats, and conversion between their bits and double.
#pragma once
#include <cstdint>

#include "tilewright/support/dtype.h"

namespace tilewright {

struct FloatFormat {
  int exponent_bits, mantissa_bits;
  bool has_infinity;  // float8_e4m3fn has none, and a single NaN: all bits set

  constexpr int bits() const { return 1 + exponent_bits + mantissa_bits; }
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  /// The exponent of the smallest value above zero.
  constexpr int min_power() const { return 1 - bias() - mantissa_bits; }
  constexpr uint32_t sign_bit() const { return 1u << (exponent_bits + mantissa_bits); }
  constexpr uint32_t nan_bits() const {
    return has_infinity ? infinity_bits() | (1u << (mantissa_bits - 1)) : sign_bit() - 1;
  }
  /// The bits that stand for values that are too large: infinity, or NaN.
  constexpr uint32_t infinity_bits() const {
    return has_infinity ? ((1u << exponent_bits) - 1) << mantissa_bits : sign_bit() - 1;
  }
};

/// True if `dtype` is a float of 8 or 16 bits (float16, bfloat16, float8_e4m3fn, float8_e5m2).
inline bool is_small_float(DataType dtype) { return dtype.is_float() && dtype.bits < 32; }
/// The format of a small float.
FloatFormat float_format(DataType dtype);

/// The bits of the value nearest to `value`, ties to even.
uint32_t encode_float(double value, FloatFormat format);
/// The value that these bits encode.
double decode_float(uint32_t bits, FloatFormat format);
/// The value of small float `dtype` nearest to `value`; `value` itself for other dtypes.
double round_to_format(double value, DataType dtype);

}  // namespace tilewright
