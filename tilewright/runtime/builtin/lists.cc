// Lists of tensors whose number is known only at run time, and values that may be missing.  A list is a tuple of the
// virtual machine; none of these functions changes its arguments.
#include <algorithm>
#include <cstring>

#include "tilewright/runtime/builtin/builtin.h"
#include "tilewright/runtime/builtin/elements.h"
#include "tilewright/runtime/scalar.h"
#include "tilewright/support/count_text.h"

namespace tilewright::runtime::builtin {
namespace {

using List = std::vector<Value>;

template <class T>
Tensor scalar_of(T value, DataType dtype) {
  const Tensor result = Tensor::empty({}, dtype);
  *result.data_as<T>() = value;
  return result;
}

// Argument `n`, a position in a list of `count` elements, counted from the start.
std::ptrdiff_t place_of(const Value& position, size_t count, bool is_between, std::string_view what) {
  const int64_t given = integer_of(position, what);
  const auto size = static_cast<int64_t>(count);
  const int64_t place = given < 0 ? given + size : given;
  if (place < 0 || place > size || (place == size && !is_between))
    throw UserError("{}: position {} is outside of a sequence of {}", what, given,
                    count_text(count, "element"));
  return static_cast<std::ptrdiff_t>(place);
}

// list
Value list_length(Args args) {
  return scalar_of(static_cast<int64_t>(args[0].as_tuple("list_length").size()), kInt64);
}

// list, position
Value list_get(Args args) {
  const List& list = args[0].as_tuple("list_get");
  return list[static_cast<size_t>(place_of(args[1], list.size(), false, "list_get"))];
}

// list, element, position: the end if there is none
Value list_insert(Args args) {
  List list = args[0].as_tuple("list_insert");
  const auto place = args.size() > 2 ? place_of(args[2], list.size(), true, "list_insert")
                                     : static_cast<std::ptrdiff_t>(list.size());
  list.insert(list.begin() + place, args[1]);
  return Value::tuple(std::move(list));
}

// list, position: the last if there is none
Value list_erase(Args args) {
  List list = args[0].as_tuple("list_erase");
  const auto place = place_of(args.size() > 1 ? args[1] : Value(-1), list.size(), false, "list_erase");
  list.erase(list.begin() + place);
  return Value::tuple(std::move(list));
}

// ---- concatenation

void require_whole_bytes(const Tensor& tensor, std::string_view what) {
  if (tensor.dtype().bits % 8 != 0)
    throw Unsupported("{}: tensors of dtype {} are not supported", what, tensor.dtype().str());
}

int64_t checked_axis(int64_t axis, int64_t ndim, std::string_view what) {
  if (axis < -ndim || axis >= ndim)
    throw UserError("{}: axis {} is outside of a tensor with {}", what, axis, count_text(ndim, "dimension"));
  return axis < 0 ? axis + ndim : axis;
}

// The shape of `parts` side by side along `axis`.
Shape whole_shape(const std::vector<Tensor>& parts, size_t axis) {
  Shape whole(parts[0].shape().begin(), parts[0].shape().end());
  whole[axis] = 0;
  for (const Tensor& part : parts) {
    bool fits = part.dtype() == parts[0].dtype() && part.shape().size() == whole.size();
    for (size_t n = 0; fits && n < whole.size(); ++n) fits = n == axis || part.shape()[n] == whole[n];
    if (!fits)
      throw UserError("list_concat: {} does not fit beside {} along axis {}", type_str(part),
                      type_str(parts[0]), axis);
    whole[axis] += part.shape()[axis];
  }
  return whole;
}

// list, axis, whether it is a new one
Value list_concat(Args args) {
  const bool is_stack = args[2].as_bool();
  std::vector<Tensor> parts;
  for (const Value& element : args[0].as_tuple("list_concat"))
    parts.push_back(element.as_tensor("list_concat").compact());
  if (parts.empty()) throw UserError("list_concat: the sequence has no element");
  const int64_t ndim = parts[0].ndim() + is_stack;
  const auto axis = static_cast<size_t>(checked_axis(args[1].as_int(), ndim, "list_concat"));
  if (is_stack) {
    for (Tensor& part : parts) {
      Shape shape(part.shape().begin(), part.shape().end());
      if (axis > shape.size()) break;  // refused below
      shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), 1);
      part = part.reshape(shape);
    }
  }
  require_whole_bytes(parts[0], "list_concat");
  const Tensor whole = Tensor::empty(whole_shape(parts, axis), parts[0].dtype());
  const int64_t width = parts[0].dtype().num_bytes();
  const Lines to(whole.shape(), static_cast<int64_t>(axis));
  int64_t start = 0;
  for (const Tensor& part : parts) {
    const Lines from(part.shape(), static_cast<int64_t>(axis));
    const int64_t num_bytes = from.extent * from.inner * width;
    for (int64_t n = 0; n < from.outer && num_bytes > 0; ++n)
      std::memcpy(whole.data_as<std::byte>() + (n * to.extent + start) * to.inner * width,
                  part.data_as<std::byte>() + n * num_bytes, static_cast<size_t>(num_bytes));
    start += from.extent;
  }
  return whole;
}

// ---- splitting

// The sizes of the parts of a dimension of `extent` elements.
std::vector<int64_t> sizes_of(const Tensor& split, int64_t extent) {
  std::vector<int64_t> sizes;
  if (split && split.ndim() > 1)
    throw UserError("list_split: the sizes are {}, expected one number or a list", type_str(split));
  const bool is_list = split && split.ndim() == 1;
  for (int64_t n = 0; is_list && n < split.num_elements(); ++n)
    sizes.push_back(integer_at(split, n, "list_split"));
  const int64_t size = split && !is_list ? integer_at(split, 0, "list_split") : 1;
  if (size < 1 || std::any_of(sizes.begin(), sizes.end(), [](int64_t each) { return each < 0; }))
    throw UserError("list_split: a part of the split has a size below {}", size < 1 ? 1 : 0);
  if (!is_list) {
    for (int64_t start = 0; start < extent; start += size) sizes.push_back(std::min(size, extent - start));
  }
  int64_t sum = 0;
  for (const int64_t each : sizes) sum = each > extent - sum ? extent + 1 : sum + each;
  if (sum != extent)
    throw UserError("list_split: the parts of the split do not have {}, those of the dimension",
                    count_text(extent, "element"));
  return sizes;
}

// data, axis, whether parts of one element keep it, sizes: one element for each part if there are none
Value list_split(Args args) {
  const Tensor data = args[0].as_tensor("list_split").compact();
  const int64_t axis = checked_axis(args[1].as_int(), data.ndim(), "list_split");
  const bool keeps = args[2].as_bool();
  const Tensor split = args.size() > 3 ? args[3].as_tensor("list_split").compact() : Tensor();
  List parts;
  int64_t start = 0;
  for (const int64_t size : sizes_of(split, data.shape()[static_cast<size_t>(axis)])) {
    Tensor part = data.slice(axis, start, start + size).copy();
    if (!keeps) {
      Shape shape(part.shape().begin(), part.shape().end());
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
      part = part.reshape(shape);
    }
    parts.push_back(part);
    start += size;
  }
  return Value::tuple(std::move(parts));
}

// ---- optional values

// value
Value optional_has(Args args) {
  return scalar_of(static_cast<uint8_t>(!args[0].is_none()), DataType::bool_());
}

// value
Value optional_get(Args args) {
  if (args[0].is_none()) throw UserError("optional_get: the optional value is empty");
  return args[0];
}

constexpr Entry kEntries[] = {
    {"tilewright.list_length", list_length, 1},   {"tilewright.list_get", list_get, 2},
    {"tilewright.list_insert", list_insert, 2},   {"tilewright.list_erase", list_erase, 1},
    {"tilewright.list_concat", list_concat, 3},   {"tilewright.list_split", list_split, 3},
    {"tilewright.optional_has", optional_has, 1}, {"tilewright.optional_get", optional_get, 1}};

}  // namespace

std::span<const Entry> list_entries() { return kEntries; }

}  // namespace tilewright::runtime::builtin
