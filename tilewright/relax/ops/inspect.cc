// Properties of a tensor at run time, as scalars; and checks that its elements are in a range, or are indices
// of given dimensions.
#include "tilewright/relax/infer/op_util.h"
#include "tilewright/support/count_text.h"

namespace tilewright::relax {
namespace {

Type infer(const Call& call) {
  tensor_arg(call, 0);
  return prim_type(kInt64);
}
Type infer_of_axis(const Call& call) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  const PrimExpr axis = scalar_arg(call, 1)->value;
  const auto* number = axis ? axis.as<IntImmNode>() : nullptr;
  if (number && x->ndim >= 0 && (number->value < 0 || number->value >= x->ndim))
    fail(call, "axis {} is outside of a tensor with {}", number->value, count_text(x->ndim, "dimension"));
  return prim_type(kInt64);
}

Type infer_range(const Call& call) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  if (!x->dtype.is_void() && !x->dtype.is_integral()) fail(call, "x is {}, expected integers", short_text(x));
  for (size_t n = 1; n < 3; ++n) scalar_arg(call, n);
  return Type(x);
}

// Element n is an index into dimension n % len(extents); dimensions are numbered from `first` in messages.
Type infer_indices(const Call& call) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  if (!x->dtype.is_void() && !x->dtype.is_integral())
    fail(call, "indices is {}, expected integers", short_text(x));
  int64_t count;
  Shape storage;
  shape_arg(call, 1, &count, &storage);
  scalar_arg(call, 2);
  return Type(x);
}

constexpr OpInfo row(std::string_view name, std::string_view doc, std::string_view function) {
  return runtime_op<infer>(name, "x", doc, function);
}
constexpr OpInfo kOps[] = {
    row("relax.inspect.tensor_ndim", "The number of dimensions.", "tilewright.tensor_ndim"),
    row("relax.inspect.tensor_byte_offset", "Bytes before the first element.",
        "tilewright.tensor_byte_offset"),
    row("relax.inspect.tensor_elem_offset", "Elements before the first one.",
        "tilewright.tensor_elem_offset"),
    row("relax.inspect.tensor_dtype_code", "The kind of dtype, as DLPack numbers it.",
        "tilewright.tensor_dtype_code"),
    row("relax.inspect.tensor_dtype_bits", "Bits of an element.", "tilewright.tensor_dtype_bits"),
    row("relax.inspect.tensor_dtype_lanes", "Lanes of an element.", "tilewright.tensor_dtype_lanes"),
    runtime_op<infer_of_axis>("relax.inspect.tensor_shape_i", "x, axis", "The extent of a dimension.",
                              "tilewright.tensor_shape_i"),
    runtime_op<infer_of_axis>("relax.inspect.tensor_stride_i", "x, axis",
                              "Elements from one index to the next.", "tilewright.tensor_stride_i"),
    runtime_op<infer_range>(
        "relax.require_range", "x, low, high, what",
        "x, whose elements are in low .. high; raises a UserError beginning with what otherwise.",
        "tilewright.require_range"),
    runtime_op<infer_indices>(
        "relax.require_indices", "indices, extents, first, what",
        "indices, each valid for its dimension of these extents, which are numbered from "
        "first; raises a UserError beginning with what if one is out of bounds.",
        "tilewright.require_indices"),
};

}  // namespace

extern constinit const OpTable inspect_info = op_table(kOps, "dmlc.github.io/dlpack (DLTensor)");

}  // namespace tilewright::relax
