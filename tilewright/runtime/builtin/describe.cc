// Properties of tensors: the results of inspect.* operators, a tensor's bytes viewed as another tensor, and
// checks that elements lie in a range or are valid indices.
#include <cstring>

#include "tilewright/runtime/builtin/builtin.h"
#include "tilewright/runtime/builtin/elements.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/error.h"

namespace tilewright::runtime::builtin {
namespace {

size_t dimension(Args args, const Tensor& tensor, std::string_view what) {
  const int64_t axis = args[1].as_int();
  if (axis < 0 || axis >= tensor.ndim())
    throw UserError("{}: axis {} is outside of a tensor with {}", what, axis,
                    count_text(tensor.ndim(), "dimension"));
  return static_cast<size_t>(axis);
}
Value shape_i(Args args) {
  const Tensor tensor = args[0].as_tensor();
  return tensor.shape()[dimension(args, tensor, "inspect.tensor_shape_i")];
}
Value stride_i(Args args) {
  const Tensor tensor = args[0].as_tensor();
  return tensor.strides()[dimension(args, tensor, "inspect.tensor_stride_i")];
}
Value ndim(Args args) { return args[0].as_tensor().ndim(); }
Value byte_offset(Args args) { return static_cast<int64_t>(args[0].as_tensor().dl().byte_offset); }
Value elem_offset(Args args) {
  const Tensor tensor = args[0].as_tensor();
  return static_cast<int64_t>(tensor.dl().byte_offset) / tensor.dtype().num_bytes();
}
Value dtype_code(Args args) { return static_cast<int64_t>(args[0].as_tensor().dtype().code); }
Value dtype_bits(Args args) { return static_cast<int64_t>(args[0].as_tensor().dtype().bits); }
Value dtype_lanes(Args args) { return static_cast<int64_t>(args[0].as_tensor().dtype().lanes); }

// data; a shape, a dtype and an offset in bytes, each optional; optionally the result
Value view(Args args) {
  constexpr std::string_view kWhat = "memory.view";
  const Tensor data = args[0].as_tensor(kWhat).compact();
  Shape shape(data.shape().begin(), data.shape().end());
  DataType dtype = data.dtype();
  int64_t offset = 0;
  Tensor result;
  for (const Value& arg : args.subspan(1)) {
    if (arg.is(ValueKind::kShape)) shape = arg.as_shape();
    if (arg.is(ValueKind::kDtype)) dtype = arg.as_dtype();
    if (arg.is(ValueKind::kInt)) offset = arg.as_int();
    if (arg.is(ValueKind::kTensor)) result = arg.as_tensor();
  }
  const bool has_result = static_cast<bool>(result);
  if (!has_result) result = Tensor::empty(shape, dtype);
  if (offset < 0 || offset > data.num_bytes() - result.num_bytes())
    throw UserError("{}: {} bytes from byte {} on are asked for, but data {} has {}", kWhat,
                    result.num_bytes(), offset, type_str(data), data.num_bytes());
  std::memcpy(result.data(), data.data_as<char>() + offset, static_cast<size_t>(result.num_bytes()));
  return has_result ? Value() : Value(result);
}
// data; optionally the result
Value ensure_zero_offset(Args args) {
  const Tensor data = args[0].as_tensor("memory.ensure_zero_offset");
  if (args.size() < 2) return data.copy();
  args[1].as_tensor().copy_from(data);
  return {};
}

// x, low, high, what; optionally the result
Value require_range(Args args) {
  const Tensor x = args[0].as_tensor("require_range").compact();
  const int64_t low = args[1].as_int(), high = args[2].as_int();
  for (int64_t n = 0; n < x.num_elements(); ++n) {
    const int64_t value = integer_at(x, n, "require_range");
    if (value < low || value > high)
      throw UserError("{}: element {} is {}, expected {} to {}", args[3].as_string("what"), n, value, low,
                      high);
  }
  if (args.size() < 5) return x.copy();
  args[4].as_tensor().copy_from(x);
  return {};
}

// The smallest n at which data[n], data[n + step], .. below `count` is outside of -extent .. extent - 1, or
// -1.
template <class T>
int64_t first_outside(const T* data, int64_t n, int64_t count, int64_t step, int64_t extent) {
  const auto is_outside = [extent](T value) {
    if constexpr (std::is_unsigned_v<T>) return static_cast<uint64_t>(value) >= static_cast<uint64_t>(extent);
    // a value below 0 becomes a large unsigned one
    return static_cast<uint64_t>(value) + static_cast<uint64_t>(extent) >= 2 * static_cast<uint64_t>(extent);
  };
  for (; n < count; n += step) {
    if (is_outside(data[n])) return n;
  }
  return -1;
}

// True if all of `count` integers are in -extent .. extent - 1; T is no uint64_t.
template <class T>
bool are_inside(const T* data, int64_t count, int64_t extent) {
  const auto most = static_cast<uint64_t>(extent);
  uint64_t wrong = 0;  // its highest bit: one of the differences is negative
  for (int64_t n = 0; n < count; ++n) {
    const auto value = static_cast<uint64_t>(static_cast<int64_t>(data[n]));
    wrong |= (value + most) | (most - 1 - value);
  }
  return wrong >> 63 == 0;
}

// indices, extents, first, what; optionally the result
Value require_indices(Args args) {
  constexpr std::string_view kWhat = "require_indices";
  const Tensor indices = input(args, 0, kWhat);
  const Shape& extents = args[1].as_shape(kWhat);
  const auto depth = static_cast<int64_t>(extents.size());
  with_number_type(indices.dtype(), kWhat, [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>) {
      const T* data = indices.data_as<T>();
      constexpr bool kFits = !std::is_same_v<T, uint64_t>;
      if (kFits && depth == 1 && are_inside(data, indices.num_elements(), extents[0])) return;
      for (int64_t dim = 0; dim < depth; ++dim) {
        const int64_t extent = extents[static_cast<size_t>(dim)];
        const int64_t n = first_outside(data, dim, indices.num_elements(), depth, extent);
        if (n >= 0)
          throw UserError("{}: index {} is outside of dimension {}, which has extent {}",
                          args[3].as_string("what"), data[n], args[2].as_int() + dim, extent);
      }
    }
  });
  if (args.size() < 5) return indices.copy();
  args[4].as_tensor().copy_from(indices);
  return {};
}

constexpr Entry kEntries[] = {{"tilewright.tensor_shape_i", shape_i, 2},
                              {"tilewright.tensor_stride_i", stride_i, 2},
                              {"tilewright.tensor_ndim", ndim, 1},
                              {"tilewright.tensor_byte_offset", byte_offset, 1},
                              {"tilewright.tensor_elem_offset", elem_offset, 1},
                              {"tilewright.tensor_dtype_code", dtype_code, 1},
                              {"tilewright.tensor_dtype_bits", dtype_bits, 1},
                              {"tilewright.tensor_dtype_lanes", dtype_lanes, 1},
                              {"tilewright.view", view, 1},
                              {"tilewright.ensure_zero_offset", ensure_zero_offset, 1},
                              {"tilewright.require_range", require_range, 4},
                              {"tilewright.require_indices", require_indices, 4}};

}  // namespace

std::span<const Entry> describe_entries() { return kEntries; }

}  // namespace tilewright::runtime::builtin
