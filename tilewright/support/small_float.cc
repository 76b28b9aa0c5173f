#include "tilewright/support/small_float.h"

#include <algorithm>
#include <cmath>

namespace tilewright {

FloatFormat float_format(DataType dtype) {
  switch (dtype.code) {
    case DataType::kBFloat: return {8, 7, SpecialBits::kInfinities};
    case DataType::kFloat8E4M3FN: return {4, 3, SpecialBits::kOneNan};
    case DataType::kFloat8E4M3FNUZ: return {4, 3, SpecialBits::kNanIsMinusZero};
    case DataType::kFloat8E5M2: return {5, 2, SpecialBits::kInfinities};
    case DataType::kFloat8E5M2FNUZ: return {5, 2, SpecialBits::kNanIsMinusZero};
    case DataType::kFloat8E8M0FNU: return {8, 0, SpecialBits::kPositivePowers};
    case DataType::kFloat4E2M1FN: return {2, 1, SpecialBits::kNone};
    default: return {5, 10, SpecialBits::kInfinities};
  }
}

namespace {

// The exponent of the power of two nearest to `value`.
uint32_t encode_power(double value, FloatFormat format) {
  if (!(value > 0) || std::isinf(value)) return format.nan_bits();
  const int power = std::ilogb(value);
  const bool goes_up = value >= std::ldexp(1.5, power);
  const int exponent = std::max(power + (goes_up ? 1 : 0) + format.bias(), 0);
  return std::min(static_cast<uint32_t>(exponent), format.nan_bits());
}

bool is_nan(uint32_t bits, FloatFormat format) {
  switch (format.special) {
    case SpecialBits::kInfinities: return (bits & format.magnitude_bits()) > format.infinity_bits();
    case SpecialBits::kNanIsMinusZero: return bits == format.nan_bits();
    case SpecialBits::kNone: return false;
    default: return (bits & format.magnitude_bits()) == format.nan_bits();
  }
}

}  // namespace

uint32_t encode_float(double value, FloatFormat format) {
  if (format.is_powers()) return encode_power(value, format);
  const int mantissa_bits = format.mantissa_bits, bias = format.bias();
  const uint32_t sign = std::signbit(value) ? format.sign_bit() : 0;
  if (std::isnan(value)) return sign | format.nan_bits();
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | format.infinity_bits();
  int power = magnitude == 0 ? 1 - bias : std::max(std::ilogb(magnitude), 1 - bias);
  if (power > bias + 1) return sign | format.infinity_bits();
  const double scaled = std::nearbyint(std::ldexp(magnitude, mantissa_bits - power));  // with the implied 1
  auto digits = static_cast<uint32_t>(scaled);
  if (digits == 0 && format.special == SpecialBits::kNanIsMinusZero) return 0;
  if (digits >> (mantissa_bits + 1)) {
    digits >>= 1;
    ++power;
  }
  if (!(digits >> mantissa_bits)) return sign | digits;  // subnormal
  const uint32_t bits =
      (static_cast<uint32_t>(power + bias) << mantissa_bits) | (digits & ((1u << mantissa_bits) - 1));
  return sign | std::min(bits, format.infinity_bits());
}

double decode_float(uint32_t bits, FloatFormat format) {
  if (is_nan(bits, format)) return NAN;
  if (format.is_powers()) return std::ldexp(1.0, static_cast<int>(bits) + format.min_power());
  const int mantissa_bits = format.mantissa_bits;
  const uint32_t magnitude = bits & format.magnitude_bits(), exponent = magnitude >> mantissa_bits,
                 mantissa = magnitude & ((1u << mantissa_bits) - 1);
  double value;
  if (format.has_infinity() && magnitude == format.infinity_bits())
    value = INFINITY;
  else if (exponent == 0)
    value = std::ldexp(static_cast<double>(mantissa), format.min_power());
  else
    value = std::ldexp(static_cast<double>(mantissa | (1u << mantissa_bits)),
                       static_cast<int>(exponent) - 1 + format.min_power());
  return bits & format.sign_bit() ? -value : value;
}

double round_to_format(double value, DataType dtype) {
  if (!is_small_float(dtype)) return value;
  const FloatFormat format = float_format(dtype);
  return decode_float(encode_float(value, format), format);
}

}  // namespace tilewright
