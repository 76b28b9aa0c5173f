#include "tilewright/runtime/value_text.h"

#include <cstring>

#include "tilewright/runtime/function.h"
#include "tilewright/runtime/packed_elements.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/error.h"
#include "tilewright/support/small_float.h"

namespace tilewright::runtime {
namespace {

constexpr int64_t kManyElements = 1000, kEdge = 3;

template <class T>
T load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::string element_text(const char* at, DataType dtype) {
  if (dtype.is_bool()) return load<uint8_t>(at) ? "true" : "false";
  const int bits = dtype.bits;
  if (dtype == DataType::float_(32)) return fmt::format("{}", load<float>(at));
  if (dtype == DataType::float_(64)) return fmt::format("{}", load<double>(at));
  if (is_small_float(dtype))
    return fmt::format(
        "{}", decode_float(bits == 16 ? load<uint16_t>(at) : load<uint8_t>(at), float_format(dtype)));
  if (dtype.code == DataType::kInt && bits == 8) return fmt::format("{}", int{load<int8_t>(at)});
  if (dtype.code == DataType::kInt && bits == 16) return fmt::format("{}", load<int16_t>(at));
  if (dtype.code == DataType::kInt && bits == 32) return fmt::format("{}", load<int32_t>(at));
  if (dtype.code == DataType::kInt && bits == 64) return fmt::format("{}", load<int64_t>(at));
  if (dtype.code == DataType::kUInt && bits == 16) return fmt::format("{}", load<uint16_t>(at));
  if (dtype.code == DataType::kUInt && bits == 32) return fmt::format("{}", load<uint32_t>(at));
  if (dtype.code == DataType::kUInt && bits == 64) return fmt::format("{}", load<uint64_t>(at));
  return fmt::format("{}", unsigned{load<uint8_t>(at)});
}

// `tensor` holds elements of `dtype`, or those that share bytes one by one.
void write_elements(const Tensor& tensor, DataType dtype, size_t axis, int64_t first, bool is_short,
                    std::string* out) {
  const auto shape = tensor.shape();
  if (axis == shape.size()) {
    *out += element_text(static_cast<const char*>(tensor.data()) + first * dtype.num_bytes(), dtype);
    return;
  }
  int64_t step = 1;
  for (size_t inner = axis + 1; inner < shape.size(); ++inner) step *= shape[inner];
  *out += '[';
  for (int64_t n = 0; n < shape[axis]; ++n) {
    if (n) *out += ", ";
    if (is_short && n == kEdge && shape[axis] > 2 * kEdge) {
      *out += "..., ";
      n = shape[axis] - kEdge;
    }
    write_elements(tensor, dtype, axis + 1, first + n * step, is_short, out);
  }
  *out += ']';
}

std::string tensor_text(const Tensor& tensor) {
  if (!tensor.device().is_cpu()) return type_str(tensor);
  const Tensor compact = shares_bytes(tensor.dtype()) ? unpack_elements(tensor) : tensor.compact();
  std::string text;
  // those of 4 bits have a byte each, so that int8 and uint8 have their values
  const DataType dtype = tensor.dtype().is_float() ? tensor.dtype() : compact.dtype();
  write_elements(compact, dtype, 0, 0, compact.num_elements() > kManyElements, &text);
  return text;
}

}  // namespace

std::string value_text(const Value& value) {
  switch (value.kind()) {
    case ValueKind::kInt: return fmt::format("{}", value.as_int());
    case ValueKind::kBool: return value.as_bool() ? "true" : "false";
    case ValueKind::kFloat: return fmt::format("{}", value.as_float());
    case ValueKind::kString: return value.as_string();
    case ValueKind::kTensor: return tensor_text(value.as_tensor());
    case ValueKind::kShape: {
      std::string text = "shape(";
      for (const int64_t extent : value.as_shape())
        text += fmt::format("{}{}", text.back() == '(' ? "" : ", ", extent);
      return text + ")";
    }
    case ValueKind::kTuple: {
      std::string text = "(";
      for (const Value& field : value.as_tuple()) text += (text.size() > 1 ? ", " : "") + value_text(field);
      return text + ")";
    }
    default: return value.type_str();
  }
}

std::string format_values(std::string_view format, std::span<const Value> values) {
  std::string text;
  size_t next = 0;
  for (size_t at = 0; at < format.size(); ++at) {
    const std::string_view pair = format.substr(at, 2);
    if (pair == "{}") {
      if (next == values.size())
        throw UserError("the format \"{}\" has more placeholders than the {} given", format,
                        count_text(values.size(), "value"));
      text += value_text(values[next++]);
      ++at;
    } else {
      text += format[at];
      at += pair == "{{" || pair == "}}";
    }
  }
  for (; next < values.size(); ++next) text += (text.empty() ? "" : " ") + value_text(values[next]);
  return text;
}

}  // namespace tilewright::runtime
