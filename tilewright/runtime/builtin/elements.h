// Shared by the built-in functions: element types, and tensors viewed as lines along one dimension.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tilewright/runtime/function.h"
#include "tilewright/support/error.h"
#include "tilewright/support/small_float.h"

namespace tilewright::runtime::builtin {

/// A float of 8 or 16 bits in memory.
template <uint8_t kCode, class Bits>
struct SmallFloat {
  Bits bits = 0;

  SmallFloat() = default;
  explicit SmallFloat(float value) : bits(static_cast<Bits>(encode_float(value, format()))) {}
  operator float() const { return static_cast<float>(decode_float(bits, format())); }  // NOLINT: implicit

 private:
  static FloatFormat format() {
    return float_format(DataType::make(kCode, static_cast<int>(8 * sizeof(Bits)), 1));
  }
};

/// The type in which values of type T are compared and added: float for small floats.
template <class T>
using Wide = std::conditional_t<std::is_arithmetic_v<T>, T, float>;

/// Calls `body` with a value of the C++ type of `dtype`; bool is treated as uint8.
template <class Body>
void with_number_type(DataType dtype, std::string_view what, const Body& body) {
  if (dtype == DataType::float_(32)) return body(float());
  if (dtype == DataType::float_(64)) return body(double());
  if (dtype == DataType::float_(16)) return body(SmallFloat<DataType::kFloat, uint16_t>());
  if (dtype == DataType::bfloat16()) return body(SmallFloat<DataType::kBFloat, uint16_t>());
  if (dtype.lanes == 1 && (dtype.is_int() || dtype.is_uint() || dtype.is_bool())) {
    const bool is_signed = dtype.is_int();
    switch (dtype.bits) {
      case 1:
      case 8: return is_signed ? body(int8_t()) : body(uint8_t());
      case 16: return is_signed ? body(int16_t()) : body(uint16_t());
      case 32: return is_signed ? body(int32_t()) : body(uint32_t());
      case 64: return is_signed ? body(int64_t()) : body(uint64_t());
      default: break;
    }
  }
  throw Unsupported("{}: tensors of dtype {} are not supported", what, dtype.str())
      .help("cast it to float32 before, e.g. R.astype(x, \"float32\")");
}

/// Element `position` of a tensor of integers.
inline int64_t integer_at(const Tensor& tensor, int64_t position, std::string_view what) {
  int64_t result = 0;
  with_number_type(tensor.dtype(), what,
                   [&]<class T>(T) { result = static_cast<int64_t>(tensor.data_as<T>()[position]); });
  return result;
}
/// Sets element `position` of a tensor of integers.
inline void set_integer(const Tensor& tensor, int64_t position, int64_t value) {
  if (tensor.dtype().bits == 32)
    tensor.data_as<int32_t>()[position] = static_cast<int32_t>(value);
  else
    tensor.data_as<int64_t>()[position] = value;
}

/// A compact tensor viewed as `outer` x `extent` x `inner` elements: the lines run along the middle
/// dimension.
struct Lines {
  int64_t outer = 1, extent = 1, inner = 1;
  Lines(ShapeView shape, int64_t axis) {
    const auto ndim = static_cast<int64_t>(shape.size());
    if (axis < 0) axis += ndim;
    for (int64_t n = 0; n < ndim; ++n)
      (n < axis ? outer : n == axis ? extent : inner) *= shape[static_cast<size_t>(n)];
  }
  int64_t count() const { return outer * inner; }
  int64_t start(int64_t line) const { return line / inner * extent * inner + line % inner; }
};

/// The indices 0 .. count - 1 in the order of `is_before`; equal ones keep their order.
template <class IsBefore>
std::vector<int64_t> sorted_positions(int64_t count, const IsBefore& is_before) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return is_before(a, b) || (a < b && !is_before(b, a)); });
  return order;
}

/// Argument `n` as a compact tensor.
inline Tensor input(Args args, size_t n, std::string_view what) { return args[n].as_tensor(what).compact(); }

}  // namespace tilewright::runtime::builtin
