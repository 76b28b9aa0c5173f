// The elementwise operators of tir/op.h: computed in double, then rounded.
#include <algorithm>
#include <bit>
#include <cmath>

#include "tilewright/analysis/interpreter/scalar.h"
#include "tilewright/tir/arithmetic.h"

namespace tilewright::analysis {
namespace {

double sigmoid(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }
double rsqrt(double x) { return 1 / std::sqrt(x); }
double exp10_of(double x) { return std::pow(10.0, x); }
double to_even(double x) { return std::nearbyint(x); }

struct Unary {
  std::string_view name;
  double (*function)(double);
};
constexpr Unary kUnary[] = {
    {"exp", std::exp},     {"exp2", std::exp2},   {"exp10", exp10_of},   {"log", std::log},
    {"log2", std::log2},   {"log10", std::log10}, {"log1p", std::log1p}, {"sqrt", std::sqrt},
    {"rsqrt", rsqrt},      {"sin", std::sin},     {"cos", std::cos},     {"tan", std::tan},
    {"asin", std::asin},   {"acos", std::acos},   {"atan", std::atan},   {"sinh", std::sinh},
    {"cosh", std::cosh},   {"tanh", std::tanh},   {"asinh", std::asinh}, {"acosh", std::acosh},
    {"atanh", std::atanh}, {"sigmoid", sigmoid},  {"erf", std::erf},     {"floor", std::floor},
    {"ceil", std::ceil},   {"trunc", std::trunc}, {"round", to_even},    {"nearbyint", to_even},
    {"fabs", std::fabs},   {"abs", std::fabs},
};

bool float_operator(std::string_view name, const Scalar* args, size_t num_args, DataType dtype,
                    double* result) {
  const double x = args[0].f;
  for (const Unary& entry : kUnary) {
    if (entry.name == name) return *result = entry.function(x), true;
  }
  if (num_args < 2) return false;
  const double y = args[1].f;
  if (name == "pow")
    *result = std::pow(x, y);
  else if (name == "atan2")
    *result = std::atan2(x, y);
  else if (name == "fmod")
    *result = std::fmod(x, y);
  else if (name == "hypot")
    *result = std::hypot(x, y);
  else if (name == "copysign")
    *result = std::copysign(x, y);
  else if (name == "nextafter")
    *result = dtype.bits == 32 ? std::nextafterf(static_cast<float>(x), static_cast<float>(y))
                               : std::nextafter(x, y);
  else if (name == "fma" && num_args == 3)
    // in double, the sum of two float products would be rounded twice
    *result = dtype.bits == 32
                  ? std::fmaf(static_cast<float>(x), static_cast<float>(y), static_cast<float>(args[2].f))
                  : std::fma(x, y, args[2].f);
  else
    return false;
  return true;
}

uint64_t low_bits(int64_t value, DataType dtype) {
  return dtype.bits == 64 ? static_cast<uint64_t>(value)
                          : static_cast<uint64_t>(value) & ((uint64_t{1} << dtype.bits) - 1);
}

// Integer power that wraps around; with a negative exponent the result is rounded towards 0.
int64_t power(int64_t base, int64_t exponent, DataType dtype) {
  const bool is_inverse = exponent < 0 && !dtype.is_uint();
  if (is_inverse && base != 1 && base != -1) return 0;
  uint64_t result = 1, factor = static_cast<uint64_t>(base);
  for (uint64_t rest = static_cast<uint64_t>(is_inverse ? exponent & 1 : exponent); rest != 0; rest >>= 1) {
    if (rest & 1) result *= factor;
    factor *= factor;
  }
  return static_cast<int64_t>(result);
}

// x * y / 2 ** shift, rounded to nearest, halves upwards.
int64_t multiplied_and_shifted(int64_t x, int64_t y, int64_t shift) {
  __extension__ using Wide = __int128;
  if (shift <= 0) return x * y;
  return static_cast<int64_t>((Wide(x) * y + (Wide(1) << (shift - 1))) >> shift);
}

bool int_operator(std::string_view name, const Scalar* args, size_t num_args, DataType dtype,
                  int64_t* result) {
  const int64_t x = args[0].i, y = num_args > 1 ? args[1].i : 0;
  const bool can_shift = y >= 0 && y < dtype.bits;
  if (name == "bitwise_and")
    *result = x & y;
  else if (name == "bitwise_or")
    *result = x | y;
  else if (name == "bitwise_xor")
    *result = x ^ y;
  else if (name == "bitwise_not")
    *result = dtype.is_bool() ? !x : ~x;
  else if (name == "shift_left")
    *result = can_shift ? static_cast<int64_t>(static_cast<uint64_t>(x) << y) : 0;
  else if (name == "shift_right")
    *result = can_shift ? (dtype.is_uint() ? static_cast<int64_t>(low_bits(x, dtype) >> y) : x >> y)
                        : (x < 0 && dtype.is_int() ? -1 : 0);
  else if (name == "popcount")
    *result = std::popcount(low_bits(x, dtype));
  else if (name == "clz")
    *result = std::countl_zero(low_bits(x, dtype)) - (64 - dtype.bits);
  else if (name == "abs" || name == "fabs")
    *result = dtype.is_int() && x < 0 ? -x : x;
  else if (name == "pow")
    *result = power(x, y, dtype);
  else if (name == "q_multiply_shift" && num_args == 4)
    *result = multiplied_and_shifted(x, y, args[2].i + args[3].i);
  else if (name == "q_multiply_shift_per_axis" && num_args == 7)
    *result = multiplied_and_shifted(args[5].i ? x << std::clamp<int64_t>(args[2].i, 0, 31) : x, y,
                                     args[3].i + args[4].i);
  else if (name == "floor" || name == "ceil" || name == "trunc" || name == "round" || name == "nearbyint")
    *result = x;
  else
    return false;
  *result = tir::wrap_int(*result, dtype);
  return true;
}

}  // namespace

bool math_operator(std::string_view name, const Scalar* args, size_t num_args, DataType dtype,
                   Scalar* result) {
  if (!dtype.is_float()) {
    int64_t value;
    if (!int_operator(name, args, num_args, dtype, &value)) return false;
    return *result = int_scalar(value), true;
  }
  if (name == "isnan" || name == "isinf" || name == "isfinite") {
    const double x = args[0].f;
    return *result = int_scalar(name == "isnan"   ? std::isnan(x)
                                : name == "isinf" ? std::isinf(x)
                                                  : std::isfinite(x)),
           true;
  }
  if (name == "ldexp")
    return *result = float_scalar(round_to(std::ldexp(args[0].f, static_cast<int>(args[1].i)), dtype)), true;
  double value;
  if (!float_operator(name, args, num_args, dtype, &value)) return false;
  return *result = float_scalar(round_to(value, dtype)), true;
}

}  // namespace tilewright::analysis
