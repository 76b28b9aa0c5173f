#include "tilewright/relax/products/quantized_weight.h"

#include <algorithm>
#include <cmath>

#include "tilewright/runtime/packed_elements.h"
#include "tilewright/support/small_float.h"

namespace tilewright::relax {
namespace {

constexpr int64_t kNumbersPerWord = 8;  // of 4 bits each
constexpr int64_t kLeastBlock = 8;
constexpr int64_t kLongGroup = 128;  // 4-bit values in a group if all of a column share a scale

// A matrix [k, n] whose element (row, column) is values[row / block * row_step + column * column_step].
struct View {
  std::vector<float> values;
  int64_t block = 1, row_step = 0, column_step = 0;
  float operator()(int64_t row, int64_t column) const {
    return values[static_cast<size_t>(row / block * row_step + column * column_step)];
  }
};

class Conversion {
 public:
  explicit Conversion(const Dequantized& weight) : weight_(weight) {
    const runtime::ShapeView shape = weight.constants[0]->data.shape();
    rows_ = shape[weight.is_transposed ? 1 : 0];
    columns_ = shape[weight.is_transposed ? 0 : 1];
  }

  std::optional<QuantizedWeight> run() {
    const DataType dtype = weight_.constants[0]->data.dtype();
    const bool is_known = (dtype.is_int() || dtype.is_uint()) && (dtype.bits == 8 || dtype.bits == 4);
    if (!is_known || rows_ < 1 || columns_ < 1 || !choose_groups(dtype.bits)) return std::nullopt;
    const auto scale = view_of(1), zero = view_of(2);
    if (!scale || !zero) return std::nullopt;
    const float least = dtype.is_uint() ? 0.0F : -static_cast<float>(1 << (dtype.bits - 1));
    const float most = least + static_cast<float>((1 << dtype.bits) - 1);
    const auto fits = [&](float z) { return z >= least && z <= most && z == std::floor(z); };
    if (!std::all_of(zero->values.begin(), zero->values.end(), fits)) return std::nullopt;
    middle_ = dtype.is_uint() ? 1 << (dtype.bits - 1) : 0;
    QuantizedWeight result;
    result.scale = groups_of<float>(*scale, kFloat32, 0);
    const runtime::Tensor numbers = centered();
    if (!is_centered_) result.zero_point = groups_of<int8_t>(*zero, DataType::int_(8), middle_);
    result.data = dtype.bits == 4 ? in_words(numbers) : numbers;
    return result;
  }

 private:
  // Chooses the number of rows that share a scale.
  bool choose_groups(int bits) {
    const int64_t block = weight_.call->attrs.get_int("block_size", 0);
    group_ = rows_;
    if (block > 0) {
      if (weight_axis() != 0 || block < kLeastBlock || (bits == 4 && block % kNumbersPerWord != 0))
        return false;
      group_ = std::min(block, rows_);
    } else if (bits == 4 && rows_ > kLongGroup) {
      group_ = kLongGroup;
    }
    num_groups_ = (rows_ - 1) / group_ + 1;
    return true;
  }

  // The dimension of [k, n] that scales vary along.
  int64_t weight_axis() const {
    const int64_t axis = weight_.call->attrs.get_int("axis", -1);
    return (axis < 0 ? axis + 2 : axis) ^ static_cast<int64_t>(weight_.is_transposed);
  }

  // The scale or zero point of each value.
  std::optional<View> view_of(size_t n) const {
    const runtime::Tensor given = weight_.constants[n]->data.compact();
    View view{numbers_of(given)};
    if (view.values.empty()) return std::nullopt;
    const int64_t block = weight_.call->attrs.get_int("block_size", 0);
    if (block > 0 && given.ndim() > 0) {
      view.block = block;
      view.row_step = weight_.is_transposed ? 1 : given.shape()[1];
      view.column_step = weight_.is_transposed ? given.shape()[1] : 1;
    } else if (given.num_elements() != 1) {
      if (weight_axis() != 1) return std::nullopt;
      view.column_step = 1;
    }
    return view;
  }

  template <class T>
  runtime::Tensor groups_of(const View& view, DataType dtype, int middle) const {
    runtime::Tensor result = runtime::Tensor::empty(runtime::Shape{num_groups_, columns_}, dtype);
    auto* to = result.data_as<T>();
    for (int64_t group = 0; group < num_groups_; ++group) {
      for (int64_t column = 0; column < columns_; ++column)
        *to++ = static_cast<T>(view(group * group_, column) - static_cast<float>(middle));
    }
    return result;
  }

  // The values [k, n] as int8: less their zero points if all differences fit, else less the middle of an
  // unsigned dtype.  Rows that complete the last group are 0.
  runtime::Tensor centered() {
    const runtime::Tensor given = weight_.constants[0]->data.compact();
    const runtime::Tensor bytes =
        runtime::shares_bytes(given.dtype()) ? runtime::unpack_elements(given) : given;
    const View zero = *view_of(2);
    const bool is_unsigned = bytes.dtype() == DataType::uint(8);
    const auto* from = static_cast<const uint8_t*>(bytes.data());
    const int least = given.dtype().bits == 4 ? -8 : -128;
    const int64_t row_step = weight_.is_transposed ? 1 : columns_,
                  column_step = weight_.is_transposed ? rows_ : 1;
    const auto number = [&](int64_t row, int64_t column) {
      const uint8_t byte = from[row * row_step + column * column_step];
      return is_unsigned ? static_cast<int>(byte) : static_cast<int>(static_cast<int8_t>(byte));
    };
    is_centered_ = true;
    for (int64_t row = 0; row < rows_ && is_centered_; ++row) {
      for (int64_t column = 0; column < columns_; ++column) {
        const int moved = number(row, column) - static_cast<int>(zero(row, column));
        is_centered_ = is_centered_ && moved >= least && moved <= -least - 1;
      }
    }
    const int64_t num_rows = num_groups_ > 1 ? num_groups_ * group_ : rows_;
    runtime::Tensor result = runtime::Tensor::zeros(runtime::Shape{num_rows, columns_}, DataType::int_(8));
    auto* to = result.data_as<int8_t>();
    for (int64_t row = 0; row < rows_; ++row) {
      for (int64_t column = 0; column < columns_; ++column)
        *to++ = static_cast<int8_t>(number(row, column) -
                                    (is_centered_ ? static_cast<int>(zero(row, column)) : middle_));
    }
    return result;
  }

  // Eight 4-bit values in each int32, stored as 0 to 15.
  runtime::Tensor in_words(const runtime::Tensor& numbers) const {
    const int64_t num_rows = numbers.shape()[0];
    runtime::Tensor result =
        runtime::Tensor::zeros(runtime::Shape{(num_rows - 1) / kNumbersPerWord + 1, columns_}, kInt32);
    const auto* from = numbers.data_as<int8_t>();
    auto* to = result.data_as<uint32_t>();
    for (int64_t row = 0; row < num_rows; ++row) {
      for (int64_t column = 0; column < columns_; ++column)
        to[row / kNumbersPerWord * columns_ + column] |=
            static_cast<uint32_t>(from[row * columns_ + column] + 8) << (row % kNumbersPerWord * 4);
    }
    return result;
  }

  const Dequantized& weight_;
  int64_t rows_ = 0, columns_ = 0, group_ = 0, num_groups_ = 0;
  int middle_ = 0;           // of the range of an unsigned dtype
  bool is_centered_ = true;  // zero points are subtracted already
};

}  // namespace

bool is_bound_by_weight(const Shape& x, int64_t num_weights, int64_t min_bytes) {
  int64_t needed = min_bytes, extent;
  for (size_t dim = 0; dim + 1 < x.size(); ++dim) {
    if (tir::as_const_int(x[dim], &extent) && __builtin_mul_overflow(needed, extent, &needed)) return false;
  }
  return num_weights * 4 >= needed;
}

std::vector<float> numbers_of(const runtime::Tensor& tensor) {
  const DataType dtype = tensor.dtype();
  const auto all = [&](const auto* values) {
    return std::vector<float>(values, values + tensor.num_elements());
  };
  if (runtime::shares_bytes(dtype)) return numbers_of(runtime::unpack_elements(tensor));
  if (dtype == kFloat32) return all(tensor.data_as<float>());
  if (dtype == DataType::int_(8)) return all(tensor.data_as<int8_t>());
  if (dtype == DataType::uint(8)) return all(tensor.data_as<uint8_t>());
  if (dtype == kInt32) return all(tensor.data_as<int32_t>());
  if (!dtype.is_float() || dtype.bits != 16) return {};
  std::vector<float> numbers;
  const auto* bits = tensor.data_as<uint16_t>();
  for (int64_t n = 0; n < tensor.num_elements(); ++n)
    numbers.push_back(static_cast<float>(decode_float(bits[n], float_format(dtype))));
  return numbers;
}

std::optional<QuantizedWeight> quantized_weight(const Dequantized& weight) {
  return Conversion(weight).run();
}

}  // namespace tilewright::relax
