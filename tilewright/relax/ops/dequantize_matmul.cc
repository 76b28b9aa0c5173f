// Products with weights that are stored as integers of few bits, which the pass fuse_dequantize_matmul makes
// from matmul and dequantize.
#include "tilewright/te/topi/dequantize_matmul.h"

#include "tilewright/relax/infer/op_util.h"

namespace tilewright::relax {
namespace {

/// The extents of argument `n`, a matrix; raises UserError if they are not known.
std::vector<int64_t> matrix_shape(const Call& call, size_t n) {
  require_ndim(call, n, 2);
  const Shape* shape = known_shape(tensor_arg(call, n));
  const auto extents = shape ? constant_extents(*shape) : std::nullopt;
  if (!extents)
    fail(call, "{} is {}, expected known extents", arg_name(call, n), short_text(tensor_arg(call, n)));
  return *extents;
}

void require_dtypes(const Call& call) {
  require_float(call, 0);
  require_float(call, 2);
  const TensorTypeNode* data = tensor_arg(call, 1);
  if (data->dtype != DataType::int_(8) && data->dtype != kInt32)
    fail(call, "data is {}, expected int8, or int32 that hold eight numbers of 4 bits", short_text(data));
  if (call->args.size() > 3 && tensor_arg(call, 3)->dtype != DataType::int_(8))
    fail(call, "zero_point is {}, expected int8", short_text(tensor_arg(call, 3)));
}

Type infer(const Call& call) {
  require_dtypes(call);
  const TensorTypeNode* x = tensor_arg(call, 0);
  const std::vector<int64_t> data = matrix_shape(call, 1), scale = matrix_shape(call, 2);
  for (size_t n = 2; n < call->args.size(); ++n) {
    const std::vector<int64_t> groups = matrix_shape(call, n);
    if (groups[0] < 1 || data[0] % groups[0] != 0 || groups[1] != data[1] || groups != scale)
      fail(call, "data is {}, {} is {}: expected as many columns, and rows in groups of one size",
           short_text(tensor_arg(call, 1)), arg_name(call, n), short_text(tensor_arg(call, n)));
  }
  if (x->ndim == 0) fail(call, "x is a scalar; use multiply");
  const Shape* shape = known_shape(x);
  if (!shape) return tensor_type_of_ndim(x->ndim, x->dtype);
  const int64_t per_element = tensor_arg(call, 1)->dtype == kInt32 ? 8 : 1;
  const int64_t held = data[0] * per_element, step = scale[0] > 1 ? held / scale[0] : per_element;
  int64_t length;
  if (!tir::as_const_int(shape->back(), &length) || length > held || length <= held - step)
    fail(call, "x is {}, data holds {} numbers for each column: expected at most {} more than x has",
         short_text(x), held, step - 1);
  Shape result = *shape;
  result.back() = extent_imm(data[1]);
  return tensor_type(std::move(result), x->dtype);
}

te::Tensor lower(const LowerInput& in) {
  const bool is_word = in[1].dtype() == kInt32;
  const topi::QuantizedMatrix matrix{in[1], in[2], in.has(3) ? in[3] : te::Tensor(), is_word ? 4 : 8};
  return topi::dequantize_matmul(in[0], matrix, in.out_dtype());
}

constexpr OpInfo kOps[] = {op<infer, lower>(
    "relax.dequantize_matmul", "x, data, scale, zero_point?",
    "x times (data - zero_point) * scale, whose rows share scales in groups.", FusePattern::kOutFusable)};

}  // namespace

extern constinit const OpTable dequantize_matmul_info =
    op_table(kOps, "github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md (MatMulNBits)");

}  // namespace tilewright::relax
