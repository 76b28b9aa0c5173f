#include "tilewright/analysis/interpreter/scalar.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "tilewright/support/error.h"
#include "tilewright/support/small_float.h"
#include "tilewright/tir/arithmetic.h"

namespace tilewright::analysis {
namespace {
using ir::Kind;

template <class T>
T read(const char* address) {
  T value;
  std::memcpy(&value, address, sizeof(T));
  return value;
}
template <class T>
void write(char* address, T value) {
  std::memcpy(address, &value, sizeof(T));
}

bool is_wide_uint(DataType dtype) { return dtype.is_uint() && dtype.bits == 64; }

int64_t compare_ints(Kind op, int64_t a, int64_t b, DataType dtype) {
  const bool less = is_wide_uint(dtype) ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
  switch (op) {
    case Kind::kEQ: return a == b;
    case Kind::kNE: return a != b;
    case Kind::kLT: return less;
    case Kind::kLE: return less || a == b;
    case Kind::kGT: return !less && a != b;
    default: return !less;
  }
}

std::optional<int64_t> divide(Kind op, int64_t a, int64_t b, DataType dtype) {
  if (b == 0) return std::nullopt;
  const bool is_quotient = op == Kind::kDiv || op == Kind::kFloorDiv;
  if (is_wide_uint(dtype)) {
    const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    return static_cast<int64_t>(is_quotient ? x / y : x % y);
  }
  if (b == -1) return is_quotient ? tir::wrap_int(static_cast<int64_t>(-static_cast<uint64_t>(a)), dtype) : 0;
  switch (op) {
    case Kind::kDiv: return a / b;
    case Kind::kMod: return a % b;
    case Kind::kFloorDiv: return tir::floordiv_int(a, b);
    default: return tir::floormod_int(a, b);
  }
}

}  // namespace

double round_to(double value, DataType dtype) {
  if (dtype.code == DataType::kFloat && dtype.bits == 32)
    return static_cast<double>(static_cast<float>(value));
  if (dtype.code == DataType::kFloat && dtype.bits == 64) return value;
  return round_to_format(value, dtype);
}

std::optional<int64_t> int_binary(Kind op, int64_t a, int64_t b, DataType dtype) {
  if (op > Kind::kCompareOpBegin && op < Kind::kCompareOpEnd) return compare_ints(op, a, b, dtype);
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  switch (op) {
    case Kind::kAdd: return tir::wrap_int(static_cast<int64_t>(x + y), dtype);
    case Kind::kSub: return tir::wrap_int(static_cast<int64_t>(x - y), dtype);
    case Kind::kMul: return tir::wrap_int(static_cast<int64_t>(x * y), dtype);
    case Kind::kMin: return compare_ints(Kind::kLT, a, b, dtype) ? a : b;
    case Kind::kMax: return compare_ints(Kind::kLT, a, b, dtype) ? b : a;
    case Kind::kAnd: return a && b;
    case Kind::kOr: return a || b;
    default: return divide(op, a, b, dtype);
  }
}

double float_binary(Kind op, double a, double b, DataType dtype) {
  switch (op) {
    case Kind::kAdd: return round_to(a + b, dtype);
    case Kind::kSub: return round_to(a - b, dtype);
    case Kind::kMul: return round_to(a * b, dtype);
    case Kind::kDiv: return round_to(a / b, dtype);
    case Kind::kMod: return round_to(std::fmod(a, b), dtype);
    case Kind::kFloorDiv: return round_to(std::floor(a / b), dtype);
    case Kind::kFloorMod: return round_to(tir::floormod_float(a, b), dtype);
    case Kind::kMin: return std::isnan(a) || std::isnan(b) ? NAN : std::fmin(a, b);
    case Kind::kMax: return std::isnan(a) || std::isnan(b) ? NAN : std::fmax(a, b);
    default: throw InternalError("kind {} is no float operator", static_cast<int>(op));
  }
}

int64_t float_compare(Kind op, double a, double b) {
  switch (op) {
    case Kind::kEQ: return a == b;
    case Kind::kNE: return a != b;
    case Kind::kLT: return a < b;
    case Kind::kLE: return a <= b;
    case Kind::kGT: return a > b;
    default: return a >= b;
  }
}

std::optional<Scalar> convert(Scalar value, DataType from, DataType to) {
  if (from.is_float() && to.is_float()) return float_scalar(round_to(value.f, to));
  if (from.is_float()) {
    if (to.is_bool()) return int_scalar(value.f != 0);
    const double truncated = std::trunc(value.f);
    const double low = to.is_uint() ? 0 : -std::ldexp(1.0, to.bits - 1),
                 high = std::ldexp(1.0, to.is_uint() ? to.bits : to.bits - 1);
    if (!(truncated >= low && truncated < high)) return std::nullopt;
    return int_scalar(is_wide_uint(to) ? static_cast<int64_t>(static_cast<uint64_t>(truncated))
                                       : static_cast<int64_t>(truncated));
  }
  if (!to.is_float()) {
    Scalar result = value;
    if (!to.is_handle()) result.i = tir::wrap_int(value.i, to);
    return result;
  }
  // converted directly: through double, large integers would be rounded twice
  if (to.bits == 32)
    return float_scalar(is_wide_uint(from) ? static_cast<float>(static_cast<uint64_t>(value.i))
                                           : static_cast<float>(value.i));
  return float_scalar(round_to(
      is_wide_uint(from) ? static_cast<double>(static_cast<uint64_t>(value.i)) : static_cast<double>(value.i),
      to));
}

namespace {

// The bits of an element that shares its byte with others.
int part_of_byte(const char* address, int64_t bit, DataType dtype) {
  return read<uint8_t>(address) >> (bit % 8) & ((1 << dtype.bits) - 1);
}
void set_part_of_byte(char* address, int64_t bit, DataType dtype, int64_t bits) {
  const int mask = ((1 << dtype.bits) - 1) << (bit % 8), wanted = static_cast<int>(bits << (bit % 8));
  write(address, static_cast<uint8_t>((read<uint8_t>(address) & ~mask) | (wanted & mask)));
}

// The same for floats of less than 32 bits.
uint32_t small_bits(const char* address, int64_t bit, DataType dtype) {
  if (dtype.bits == 16) return read<uint16_t>(address);
  return dtype.bits == 8 ? read<uint8_t>(address) : static_cast<uint32_t>(part_of_byte(address, bit, dtype));
}
void set_small_bits(char* address, int64_t bit, DataType dtype, uint32_t bits) {
  if (dtype.bits == 16) return write(address, static_cast<uint16_t>(bits));
  if (dtype.bits == 8) return write(address, static_cast<uint8_t>(bits));
  set_part_of_byte(address, bit, dtype, bits);
}

}  // namespace

Scalar load_element(const char* memory, int64_t bit, DataType dtype) {
  const char* address = memory + bit / 8;
  if (dtype.is_float()) {
    if (dtype.bits == 64) return float_scalar(read<double>(address));
    if (dtype.bits == 32) return float_scalar(static_cast<double>(read<float>(address)));
    return float_scalar(decode_float(small_bits(address, bit, dtype), float_format(dtype)));
  }
  if (dtype.bits < 8) return int_scalar(tir::wrap_int(part_of_byte(address, bit, dtype), dtype));
  switch (dtype.bits) {
    case 8: return int_scalar(dtype.is_int() ? read<int8_t>(address) : read<uint8_t>(address));
    case 16: return int_scalar(dtype.is_int() ? read<int16_t>(address) : read<uint16_t>(address));
    case 32:
      return int_scalar(dtype.is_int() ? read<int32_t>(address)
                                       : static_cast<int64_t>(read<uint32_t>(address)));
    default: return int_scalar(read<int64_t>(address));
  }
}

void store_element(char* memory, int64_t bit, DataType dtype, Scalar value) {
  char* address = memory + bit / 8;
  if (dtype.is_float()) {
    if (dtype.bits == 64) return write(address, value.f);
    if (dtype.bits == 32) return write(address, static_cast<float>(value.f));
    return set_small_bits(address, bit, dtype, encode_float(value.f, float_format(dtype)));
  }
  if (dtype.bits < 8) return set_part_of_byte(address, bit, dtype, value.i);
  switch (dtype.bits) {
    case 8: return write(address, static_cast<uint8_t>(value.i));
    case 16: return write(address, static_cast<uint16_t>(value.i));
    case 32: return write(address, static_cast<uint32_t>(value.i));
    default: return write(address, value.i);
  }
}

}  // namespace tilewright::analysis
