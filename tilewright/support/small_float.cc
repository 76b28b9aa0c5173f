#include "tilewright/support/small_float.h"

#include <algorithm>
#include <cmath>

namespace tilewright {

FloatFormat float_format(DataType dtype) {
  switch (dtype.code) {
    case DataType::kBFloat: return {8, 7, true};
    case DataType::kFloat8E4M3FN: return {4, 3, false};
    case DataType::kFloat8E5M2: return {5, 2, true};
    default: return {5, 10, true};
  }
}

uint32_t encode_float(double value, FloatFormat format) {
  const int mantissa_bits = format.mantissa_bits, bias = format.bias();
  const uint32_t sign = std::signbit(value) ? format.sign_bit() : 0;
  if (std::isnan(value)) return sign | format.nan_bits();
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | format.infinity_bits();
  int power = magnitude == 0 ? 1 - bias : std::max(std::ilogb(magnitude), 1 - bias);
  if (power > bias + 1) return sign | format.infinity_bits();
  const double scaled = std::nearbyint(std::ldexp(magnitude, mantissa_bits - power));  // with the implied 1
  auto digits = static_cast<uint32_t>(scaled);
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
  const int mantissa_bits = format.mantissa_bits;
  const uint32_t magnitude = bits & (format.sign_bit() - 1), exponent = magnitude >> mantissa_bits,
                 mantissa = magnitude & ((1u << mantissa_bits) - 1);
  double value;
  if (magnitude > format.infinity_bits() || (!format.has_infinity && magnitude == format.nan_bits()))
    value = NAN;
  else if (format.has_infinity && magnitude == format.infinity_bits())
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
