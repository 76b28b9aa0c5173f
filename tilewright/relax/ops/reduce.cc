// Reductions over axes.  axis: those that are reduced, all by default; keepdims: keep them with extent 1.
#include "tilewright/te/topi/reduce.h"
#include "tilewright/relax/infer/op_util.h"
#include "tilewright/te/topi/transform.h"

namespace tilewright::relax {
namespace {

struct ReduceAttrs {
  std::vector<int64_t> axis;
  bool keepdims = false;
  static constexpr auto fields() {
    return std::tuple{field<&ReduceAttrs::axis>("axis", "dimensions to reduce; none: all of them"),
                      field<&ReduceAttrs::keepdims>("keepdims", "whether they stay with extent 1")};
  }
};

struct ArgAttrs {
  std::optional<int64_t> axis;
  bool keepdims = false;
  static constexpr auto fields() {
    return std::tuple{
        field<&ArgAttrs::axis>("axis", "the dimension to search; none: all, in row-major order"),
        field<&ArgAttrs::keepdims>("keepdims", "whether it stays with extent 1")};
  }
};

struct CumAttrs {
  std::optional<int64_t> axis;
  DataType dtype = DataType::void_();
  bool exclusive = false, reverse = false;
  static constexpr auto fields() {
    return std::tuple{field<&CumAttrs::axis>("axis", "the dimension; none: all elements in row-major order"),
                      field<&CumAttrs::dtype>("dtype", "dtype of the result; void: that of data"),
                      field<&CumAttrs::exclusive>("exclusive", "whether an element's own value is left out"),
                      field<&CumAttrs::reverse>("reverse", "whether to start from the end")};
  }
};

std::vector<int64_t> axes_of(const Call& call, const std::vector<int64_t>& axes, int64_t ndim) {
  return axes.empty() ? topi::all_axes(static_cast<size_t>(ndim)) : normalize_axes(call, axes, ndim);
}

Type reduced(const Call& call, const std::vector<int64_t>& axis, bool keepdims, DataType dtype) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  if (x->ndim < 0) return tensor_type_of_ndim(axis.empty() && !keepdims ? 0 : -1, dtype);
  const std::vector<int64_t> axes = axes_of(call, axis, x->ndim);
  if (const Shape* shape = known_shape(x))
    return tensor_type(topi::reduced_shape(*shape, axes, keepdims), dtype);
  return tensor_type_of_ndim(keepdims ? x->ndim : x->ndim - static_cast<int64_t>(axes.size()), dtype);
}

Type infer_reduce(const Call& call, const ReduceAttrs& attrs) {
  return reduced(call, attrs.axis, attrs.keepdims, tensor_arg(call, 0)->dtype);
}
Type infer_bool(const Call& call, const ReduceAttrs& attrs) {
  return reduced(call, attrs.axis, attrs.keepdims, kBoolType);
}
Type infer_arg(const Call& call, const ArgAttrs& attrs, Requirements& require) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  const Shape* shape = known_shape(x);
  for (size_t dim = 0; shape && dim < shape->size(); ++dim) {
    if (attrs.axis && normalize_axis(call, *attrs.axis, x->ndim) != static_cast<int64_t>(dim)) continue;
    require.holds(tir::operator>=(as_extent((*shape)[dim]), 1),
                  "dimension {} of x {} has no elements: there is no largest or smallest one", dim, *shape);
  }
  return reduced(call, attrs.axis ? std::vector<int64_t>{*attrs.axis} : std::vector<int64_t>{},
                 attrs.keepdims, kInt64);
}
Type infer_cumulative(const Call& call, const CumAttrs& attrs) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  const DataType dtype = attrs.dtype.is_void() ? x->dtype : attrs.dtype;
  if (attrs.axis && x->ndim >= 0) normalize_axis(call, *attrs.axis, x->ndim);
  const Shape* shape = known_shape(x);
  if (!shape) return tensor_type_of_ndim(attrs.axis ? x->ndim : 1, dtype);
  return tensor_type(attrs.axis ? *shape : Shape{num_elements(*shape)}, dtype);
}

using Reduce = te::Tensor (*)(const te::Tensor&, const topi::Axes&, bool);
template <Reduce kFunction>
te::Tensor lower_reduce(const LowerInput& in, const ReduceAttrs& attrs) {
  return kFunction(in[0], axes_of(in.call, attrs.axis, static_cast<int64_t>(in[0].ndim())), attrs.keepdims);
}
Type infer_std(const Call& call, const ReduceAttrs& attrs) {
  require_float(call, 0);
  return infer_reduce(call, attrs);
}

using ArgReduce = te::Tensor (*)(const te::Tensor&, const topi::Axes&, bool, DataType);
template <ArgReduce kFunction>
te::Tensor lower_arg(const LowerInput& in, const ArgAttrs& attrs) {
  const std::vector<int64_t> axis = attrs.axis ? std::vector<int64_t>{*attrs.axis} : std::vector<int64_t>{};
  return kFunction(in[0], axes_of(in.call, axis, static_cast<int64_t>(in[0].ndim())), attrs.keepdims, kInt64);
}
using Cumulate = te::Tensor (*)(const te::Tensor&, int64_t, bool, bool);
template <Cumulate kFunction>
te::Tensor lower_cumulative(const LowerInput& in, const CumAttrs& attrs) {
  te::Tensor x = in[0];
  if (x.dtype() != in.out_dtype()) x = topi::cast(x, in.out_dtype());
  if (!attrs.axis) x = topi::reshape(x, in.out_shape());
  const int64_t axis = normalize_axis(in.call, attrs.axis.value_or(0), static_cast<int64_t>(x.ndim()));
  return kFunction(x, axis, attrs.exclusive, attrs.reverse);
}

constexpr FusePattern kReduction = FusePattern::kReduction;
template <Reduce kFunction, auto kInfer = &infer_reduce>
constexpr OpInfo row(std::string_view name, std::string_view doc) {
  return op<kInfer, &lower_reduce<kFunction>, ReduceAttrs>(name, "x", doc, kReduction);
}

constexpr OpInfo kOps[] = {
    row<topi::sum>("relax.sum", "Sum."),
    row<topi::prod>("relax.prod", "Product."),
    row<topi::max>("relax.max", "Largest element."),
    row<topi::min>("relax.min", "Smallest element."),
    row<topi::mean>("relax.mean", "Sum divided by the number of elements."),
    row<topi::variance>("relax.variance", "Mean squared distance from the mean."),
    row<topi::any, &infer_bool>("relax.any", "True if any element is not zero."),
    row<topi::all, &infer_bool>("relax.all", "True if all elements are not zero."),
    row<topi::standard_deviation, &infer_std>("relax.std", "Square root of the variance."),
    op<infer_arg, lower_arg<topi::argmax>, ArgAttrs>(
        "relax.argmax", "x", "Position of the largest element, the first of equal ones.", kReduction),
    op<infer_arg, lower_arg<topi::argmin>, ArgAttrs>(
        "relax.argmin", "x", "Position of the smallest element, the first of equal ones.", kReduction),
    op<infer_cumulative, lower_cumulative<topi::cumsum>, CumAttrs>(
        "relax.cumsum", "data", "Sums of the elements up to each one.", FusePattern::kOpaque),
    op<infer_cumulative, lower_cumulative<topi::cumprod>, CumAttrs>(
        "relax.cumprod", "data", "Products of the elements up to each one.", FusePattern::kOpaque),
};

}  // namespace

extern constinit const OpTable reduce_info = op_table(
    kOps, "numpy.org/doc/stable/reference/routines.math.html (sum, prod, cumsum), routines.statistics.html");

}  // namespace tilewright::relax
