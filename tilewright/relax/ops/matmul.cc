// matmul, as numpy.matmul (batch dimensions broadcast).
#include "tilewright/te/topi/matmul.h"
#include "tilewright/relax/infer/op_util.h"

namespace tilewright::relax {
namespace {

struct Attrs {
  DataType out_dtype = DataType::void_();
  static constexpr auto fields() {
    return std::tuple{
        field<&Attrs::out_dtype>("out_dtype", "dtype of the sums; void: that of the arguments")};
  }
};

Type infer(const Call& call, const Attrs& attrs, Requirements& require) {
  const TensorTypeNode *a = tensor_arg(call, 0), *b = tensor_arg(call, 1);
  if (a->ndim == 0 || b->ndim == 0)
    fail(call, "{} is a scalar; use multiply", arg_name(call, a->ndim == 0 ? 0 : 1));
  const DataType dtype = attrs.out_dtype.is_void() ? common_dtype(call, 0, 1) : attrs.out_dtype;
  if (a->ndim < 0 || b->ndim < 0) return tensor_type_of_ndim(-1, dtype);
  const int64_t ndim = std::max<int64_t>(std::max(a->ndim, b->ndim), 2) - (a->ndim == 1) - (b->ndim == 1);
  const Shape *x = known_shape(a), *y = known_shape(b);
  if (!x || !y) return tensor_type_of_ndim(ndim, dtype);
  const PrimExpr& inner_a = x->back();
  const PrimExpr& inner_b = b->ndim == 1 ? y->back() : (*y)[y->size() - 2];
  require.equal(inner_a, inner_b, "{} is {}, {} is {}: contracted lengths {} and {} differ",
                arg_name(call, 0), *x, arg_name(call, 1), *y, inner_a, inner_b);
  auto batch = [](const Shape& shape) {
    return shape.size() < 2 ? Shape{} : Shape(shape.begin(), shape.end() - 2);
  };
  Shape result = broadcast_shapes(batch(*x), batch(*y), require);
  if (a->ndim > 1) result.push_back((*x)[x->size() - 2]);
  if (b->ndim > 1) result.push_back(y->back());
  return tensor_type(std::move(result), dtype);
}

te::Tensor lower(const LowerInput& in, const Attrs&) { return topi::matmul(in[0], in[1], in.out_dtype()); }

constexpr OpInfo kOps[] = {op<infer, lower, Attrs>("relax.matmul", "x1, x2",
                                                   "Matrix product [.., m, k] x [.., k, n] -> [.., m, n].",
                                                   FusePattern::kOutFusable)};

}  // namespace

extern constinit const OpTable matmul_info =
    op_table(kOps, "numpy.org/doc/stable/reference/generated/numpy.matmul.html");

}  // namespace tilewright::relax
