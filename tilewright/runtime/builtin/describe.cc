// What a tensor says about itself: the results of inspect.* operators.
#include "tilewright/runtime/builtin/builtin.h"
#include "tilewright/support/error.h"

namespace tilewright::runtime::builtin {
namespace {

size_t dimension(Args args, const Tensor& tensor, std::string_view what) {
  const int64_t axis = args[1].as_int();
  if (axis < 0 || axis >= tensor.ndim())
    throw UserError("{}: axis {} is outside of a tensor with {} dimension{}", what, axis, tensor.ndim(),
                    tensor.ndim() == 1 ? "" : "s");
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

constexpr Entry kEntries[] = {{"tilewright.tensor_shape_i", shape_i},
                              {"tilewright.tensor_stride_i", stride_i},
                              {"tilewright.tensor_ndim", ndim},
                              {"tilewright.tensor_byte_offset", byte_offset},
                              {"tilewright.tensor_elem_offset", elem_offset},
                              {"tilewright.tensor_dtype_code", dtype_code},
                              {"tilewright.tensor_dtype_bits", dtype_bits},
                              {"tilewright.tensor_dtype_lanes", dtype_lanes}};

}  // namespace

std::span<const Entry> describe_entries() { return kEntries; }

}  // namespace tilewright::runtime::builtin
