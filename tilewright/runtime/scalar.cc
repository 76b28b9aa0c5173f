#include "tilewright/runtime/scalar.h"

#include "tilewright/support/error.h"

namespace tilewright::runtime {
namespace {

// An integer or bool of a tensor with one element.
int64_t scalar_of(const TensorObject& object, std::string_view what) {
  const Tensor tensor = Tensor(Ref<TensorObject>(&object)).compact();
  const DataType dtype = tensor.dtype();
  const bool is_number = (dtype.is_integral() || dtype.is_bool()) && dtype.lanes == 1 && dtype.bits % 8 == 0;
  if (!is_number || tensor.num_elements() != 1 || !tensor.device().is_cpu()) {
    throw UserError("{}: {} is no single integer or bool", what, type_str(tensor));
  }
  switch (dtype.bits) {
    case 8: return dtype.is_int() ? *tensor.data_as<int8_t>() : *tensor.data_as<uint8_t>();
    case 16: return dtype.is_int() ? *tensor.data_as<int16_t>() : *tensor.data_as<uint16_t>();
    case 32: return dtype.is_int() ? *tensor.data_as<int32_t>() : *tensor.data_as<uint32_t>();
    default: return *tensor.data_as<int64_t>();
  }
}

}  // namespace

int64_t integer_of(const Value& value, std::string_view what) {
  if (value.is(ValueKind::kInt) || value.is(ValueKind::kBool)) return value.int_payload();
  if (const TensorObject* tensor = value.tensor_object()) return scalar_of(*tensor, what);
  throw UserError("{}: {} was given where an integer or bool is needed", what,
                  kind_with_article(value.kind()));
}

}  // namespace tilewright::runtime
