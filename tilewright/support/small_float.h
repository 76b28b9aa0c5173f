// Float formats of 4 to 16 bits, and conversion between their bits and double.
#pragma once
#include <cstdint>

#include "tilewright/support/dtype.h"

namespace tilewright {

/// What the bits beyond the numbers of a format stand for.
enum class SpecialBits : uint8_t {
  kInfinities,      // IEEE 754: the largest exponent stands for infinities and NaN
  kOneNan,          // all bits but the sign: NaN; no infinity (float8_e4m3fn)
  kNanIsMinusZero,  // the sign bit alone: NaN; no infinity and no -0 (the formats called fnuz)
  kNone,            // neither: values that are too large become the largest, NaN becomes -0 (float4_e2m1fn)
  kPositivePowers,  // powers of two without sign; all bits set: NaN; no zero (float8_e8m0fnu)
};

struct FloatFormat {
  int exponent_bits, mantissa_bits;
  SpecialBits special;

  constexpr bool has_infinity() const { return special == SpecialBits::kInfinities; }
  constexpr bool is_powers() const { return special == SpecialBits::kPositivePowers; }
  constexpr int bits() const { return (is_powers() ? 0 : 1) + exponent_bits + mantissa_bits; }
  constexpr int bias() const {
    return (1 << (exponent_bits - 1)) - (special == SpecialBits::kNanIsMinusZero ? 0 : 1);
  }
  /// The exponent of the smallest value above zero.
  constexpr int min_power() const { return (is_powers() ? 0 : 1) - bias() - mantissa_bits; }
  /// All bits but the sign.
  constexpr uint32_t magnitude_bits() const { return (1u << (exponent_bits + mantissa_bits)) - 1; }
  constexpr uint32_t sign_bit() const { return is_powers() ? 0 : magnitude_bits() + 1; }
  constexpr uint32_t nan_bits() const {
    switch (special) {
      case SpecialBits::kInfinities: return infinity_bits() | (1u << (mantissa_bits - 1));
      case SpecialBits::kNanIsMinusZero:
      case SpecialBits::kNone: return sign_bit();
      default: return magnitude_bits();
    }
  }
  /// The bits that stand for values that are too large: infinity, NaN, or the largest number.
  constexpr uint32_t infinity_bits() const {
    switch (special) {
      case SpecialBits::kInfinities: return ((1u << exponent_bits) - 1) << mantissa_bits;
      case SpecialBits::kNanIsMinusZero: return sign_bit();
      default: return magnitude_bits();
    }
  }
  /// The bits of the largest number.
  constexpr uint32_t largest_bits() const {
    return special == SpecialBits::kNone ? magnitude_bits() : infinity_bits() - 1;
  }
};

/// True if `dtype` is a float of less than 32 bits: float16, bfloat16, those of 8 bits, float4_e2m1fn.
inline bool is_small_float(DataType dtype) { return dtype.is_float() && dtype.bits < 32; }
/// Bits of a value in a register: a float of 4 bits has a byte there, whose upper half is 0.
inline int register_bits(DataType dtype) { return dtype.is_float() && dtype.bits < 8 ? 8 : dtype.bits; }
/// The format of a small float.
FloatFormat float_format(DataType dtype);

/// The bits of the value nearest to `value`, ties to even; of powers of two ties go up, and what is not above
/// zero becomes NaN.
uint32_t encode_float(double value, FloatFormat format);
/// The value that these bits encode.
double decode_float(uint32_t bits, FloatFormat format);
/// The value of small float `dtype` nearest to `value`; `value` itself for other dtypes.
double round_to_format(double value, DataType dtype);

}  // namespace tilewright
