// Operators that create tensors, and shapes as values.
#include <cmath>

#include "tilewright/arith/analyzer.h"
#include "tilewright/relax/infer/op_util.h"
#include "tilewright/te/topi/broadcast.h"
#include "tilewright/te/topi/transform.h"

namespace tilewright::relax {
namespace {

struct DtypeAttrs {
  DataType dtype = DataType::void_();
  static constexpr auto fields() {
    return std::tuple{field<&DtypeAttrs::dtype>("dtype", "element type; void: that of the argument")};
  }
};

Type filled(const Call& call, DataType dtype) {
  int64_t ndim;
  Shape storage;
  const Shape* shape = shape_arg(call, 0, &ndim, &storage);
  return shape ? tensor_type(*shape, dtype) : tensor_type_of_ndim(ndim, dtype);
}

Type infer_constant(const Call& call, const DtypeAttrs& attrs) {
  if (attrs.dtype.is_void()) fail(call, "dtype is not given");
  return filled(call, attrs.dtype);
}
Type infer_full(const Call& call, const DtypeAttrs& attrs) {
  require_ndim(call, 1, 0);
  return filled(call, attrs.dtype.is_void() ? tensor_arg(call, 1)->dtype : attrs.dtype);
}
Type infer_like(const Call& call, const DtypeAttrs& attrs) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  const DataType dtype = attrs.dtype.is_void() ? x->dtype : attrs.dtype;
  const Shape* shape = known_shape(x);
  return shape ? tensor_type(*shape, dtype) : tensor_type_of_ndim(x->ndim, dtype);
}

Type infer_full_like(const Call& call, const DtypeAttrs& attrs) {
  require_ndim(call, 1, 0);
  return infer_like(call, attrs);
}

template <int kValue>
te::Tensor lower_constant(const LowerInput& in, const DtypeAttrs&) {
  return topi::full(in.out_shape(), in.out_dtype(), tir::make_const_int(in.out_dtype(), kValue));
}
te::Tensor lower_full(const LowerInput& in, const DtypeAttrs&) {
  const te::Tensor value = in[1].dtype() == in.out_dtype() ? in[1] : topi::cast(in[1], in.out_dtype());
  return topi::broadcast_to(value, in.out_shape());
}

// ---- arange(start, end, step)

// The number of values start, start + step, ... before end, exact where doubles would be rounded.
int64_t count_of_integers(int64_t start, int64_t end, int64_t step) {
  __extension__ using Wide = __int128;
  const Wide distance = step < 0 ? Wide(start) - end : Wide(end) - start,
             stride = step < 0 ? -Wide(step) : step;
  return distance <= 0 ? 0
                       : static_cast<int64_t>(std::min<Wide>((distance + stride - 1) / stride, INT64_MAX));
}

std::optional<PrimExpr> arange_count(const Call& call) {
  const PrimTypeNode *start = scalar_arg(call, 0), *end = scalar_arg(call, 1), *step = scalar_arg(call, 2);
  if (!start->value || !end->value || !step->value) return std::nullopt;
  const auto *a = start->value.as<FloatImmNode>(), *b = end->value.as<FloatImmNode>(),
             *s = step->value.as<FloatImmNode>();
  auto as_double = [](const PrimExpr& value, const FloatImmNode* real) {
    return real ? real->value : static_cast<double>(value.as<IntImmNode>()->value);
  };
  const bool all_const = (a || is<IntImmNode>(start->value)) && (b || is<IntImmNode>(end->value)) &&
                         (s || is<IntImmNode>(step->value));
  if (all_const) {
    const double stride = as_double(step->value, s);
    if (stride == 0) fail(call, "step is 0");
    if (!a && !b && !s)
      return extent_imm(count_of_integers(start->value.as<IntImmNode>()->value,
                                          end->value.as<IntImmNode>()->value,
                                          step->value.as<IntImmNode>()->value));
    const double count = std::ceil((as_double(end->value, b) - as_double(start->value, a)) / stride);
    if (!(count < 1e18)) fail(call, "there are {} elements", count);
    return extent_imm(count < 0 ? 0 : static_cast<int64_t>(count));
  }
  const auto* stride = step->value.as<IntImmNode>();
  if (!stride || stride->value <= 0) return std::nullopt;
  const PrimExpr length =
      tir::floordiv(as_extent(end->value) - as_extent(start->value) + (stride->value - 1), stride->value);
  return arith::simplify(length);
}
Type infer_arange(const Call& call, const DtypeAttrs& attrs) {
  std::optional<PrimExpr> count = arange_count(call);
  const DataType dtype = attrs.dtype.is_void() ? scalar_arg(call, 0)->dtype : attrs.dtype;
  return count ? tensor_type({*count}, dtype) : tensor_type_of_ndim(1, dtype);
}
te::Tensor lower_arange(const LowerInput& in, const DtypeAttrs&) {
  return topi::arange(in.scalar(0), in.scalar(2), in.out_shape()[0], in.out_dtype());
}

// ---- shapes as values

Type infer_shape_of(const Call& call) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  const Shape* shape = known_shape(x);
  return shape ? shape_type(*shape) : shape_type_of_ndim(x->ndim);
}
Type infer_size(const Call& call) {
  tensor_arg(call, 0);
  return tensor_type({}, kInt64);
}
te::Tensor lower_size(const LowerInput& in) {
  const PrimExpr count = arith::simplify(num_elements(in[0].shape()));
  return te::compute(Shape{}, [&](const std::vector<tir::Var>&) { return count; }, {.name = "T_size"});
}
Type infer_tensor_to_shape(const Call& call) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  require_ndim(call, 0, 1);
  if (!x->dtype.is_void() && !x->dtype.is_integral()) fail(call, "x is {}, expected integers", short_text(x));
  const Shape* shape = known_shape(x);
  const auto* count = shape ? (*shape)[0].as<IntImmNode>() : nullptr;
  if (const auto* constant = call->args[0].as<ConstantNode>(); constant && constant->data.dtype() == kInt64) {
    Shape values;
    for (int64_t n = 0; n < constant->data.num_elements(); ++n)
      values.push_back(extent_imm(constant->data.compact().data_as<int64_t>()[n]));
    return shape_type(std::move(values));
  }
  return shape_type_of_ndim(count ? count->value : -1);
}
Type infer_shape_to_tensor(const Call& call) {
  int64_t ndim;
  Shape storage;
  shape_arg(call, 0, &ndim, &storage);
  return ndim < 0 ? tensor_type_of_ndim(1, kInt64) : tensor_type({extent_imm(ndim)}, kInt64);
}
te::Tensor lower_shape_to_tensor(const LowerInput& in) {
  const Shape values = in.shape(0);
  return te::compute({extent_imm(static_cast<int64_t>(values.size()))},
                     [&](const std::vector<tir::Var>& i) {
                       PrimExpr result = values.empty() ? extent_imm(0) : values.back();
                       for (size_t n = values.size(); n-- > 1;)
                         result = tir::select(tir::equal(i[0], extent_imm(static_cast<int64_t>(n) - 1)),
                                              values[n - 1], result);
                       return result;
                     },
                     {.name = "T_shape"});
}

constexpr FusePattern kInjective = FusePattern::kInjective, kOpaque = FusePattern::kOpaque;
constexpr OpInfo kOps[] = {
    op<infer_constant, lower_constant<0>, DtypeAttrs>("relax.zeros", "shape", "Zeros.", kInjective),
    op<infer_constant, lower_constant<1>, DtypeAttrs>("relax.ones", "shape", "Ones.", kInjective),
    op<infer_full, lower_full, DtypeAttrs>("relax.full", "shape, fill_value",
                                           "A tensor filled with one value.", kInjective),
    op<infer_like, lower_constant<0>, DtypeAttrs>("relax.zeros_like", "x", "Zeros in the shape of x.",
                                                  kInjective),
    op<infer_like, lower_constant<1>, DtypeAttrs>("relax.ones_like", "x", "Ones in the shape of x.",
                                                  kInjective),
    op<infer_full_like, lower_full, DtypeAttrs>("relax.full_like", "x, fill_value",
                                                "One value in the shape of x.", kInjective),
    op<infer_arange, lower_arange, DtypeAttrs>("relax.arange", "start, end, step",
                                               "start, start + step, ... before end.", kInjective),
    op<infer_shape_of, nullptr>("relax.shape_of", "expr", "The shape of a tensor, as a value.", kOpaque),
    op<infer_size, lower_size>("relax.size", "expr", "The number of elements, as an int64 scalar tensor.",
                               kOpaque),
    op<infer_tensor_to_shape, nullptr>("relax.tensor_to_shape", "expr",
                                       "The shape whose extents are the elements of x.", kOpaque),
    op<infer_shape_to_tensor, lower_shape_to_tensor>("relax.shape_to_tensor", "expr",
                                                     "The extents as an int64 vector.", kOpaque),
};

}  // namespace

extern constinit const OpTable create_info =
    op_table(kOps,
             "numpy.org/doc/stable/reference/routines.array-creation.html; shapes as values: Lai et al., "
             "Relax, arXiv 2311.02117");

}  // namespace tilewright::relax
