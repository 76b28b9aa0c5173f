#include "tilewright/runtime/scalar.h"

#include <cstring>
#include <utility>

#include "tilewright/runtime/builtin/elements.h"
#include "tilewright/support/error.h"
#include "tilewright/support/small_float.h"

namespace tilewright::runtime {
namespace {

// The value of a tensor of one integer or bool element.
int64_t scalar_of(const TensorObject& object, std::string_view what) {
  const Tensor given{Ref<TensorObject>(&object)};
  // only one element is worth a copy to the host
  const Tensor tensor = given.num_elements() == 1 ? given.to(Device::cpu()).compact() : given;
  const DataType dtype = tensor.dtype();
  const bool is_number = (dtype.is_integral() || dtype.is_bool()) && dtype.lanes == 1 && dtype.bits % 8 == 0;
  if (!is_number || tensor.num_elements() != 1) {
    throw UserError("{}: {} is not a single integer or bool", what, type_str(tensor));
  }
  switch (dtype.bits) {
    case 8: return dtype.is_int() ? *tensor.data_as<int8_t>() : *tensor.data_as<uint8_t>();
    case 16: return dtype.is_int() ? *tensor.data_as<int16_t>() : *tensor.data_as<uint16_t>();
    case 32: return dtype.is_int() ? *tensor.data_as<int32_t>() : *tensor.data_as<uint32_t>();
    default: return *tensor.data_as<int64_t>();
  }
}

}  // namespace

Tensor scalar_tensor(const Value& value, DataType dtype) {
  const bool is_real = value.is(ValueKind::kFloat), is_truth = value.is(ValueKind::kBool);
  if ((!is_real && !is_truth && !value.is(ValueKind::kInt)) || dtype.lanes != 1) return {};
  if (dtype.is_bool() != is_truth || (is_real && !dtype.is_float())) return {};
  if (!dtype.is_float() && dtype.bits % 8 != 0 && !dtype.is_bool()) return {};
  const Tensor tensor = Tensor::empty({}, dtype);
  if (is_small_float(dtype)) {
    const uint32_t bits = encode_float(value.as_float(), float_format(dtype));
    std::memcpy(tensor.data_as<char>(), &bits, static_cast<size_t>(tensor.num_bytes()));
    return tensor;
  }
  bool is_held = true;
  builtin::with_number_type(dtype, "a number", [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>) {
      const int64_t number = is_truth ? value.as_bool() : value.as_int();
      is_held = std::in_range<T>(number);
      if (is_held) *tensor.data_as<T>() = static_cast<T>(number);
    } else {
      *tensor.data_as<T>() = static_cast<T>(static_cast<builtin::Wide<T>>(value.as_float()));
    }
  });
  return is_held ? tensor : Tensor();
}

int64_t integer_of(const Value& value, std::string_view what) {
  if (value.is(ValueKind::kInt) || value.is(ValueKind::kBool)) return value.int_payload();
  if (const TensorObject* tensor = value.tensor_object()) return scalar_of(*tensor, what);
  throw UserError("{}: {} was given where an integer or bool is needed", what,
                  kind_with_article(value.kind()));
}

}  // namespace tilewright::runtime
