// Reductions over axes.  `axes` are in 0 .. ndim - 1, each once; if there are none, nothing is reduced.  Sums
// and products are accumulated in dtype_of_sums (elementwise.h), then rounded to the dtype of `x`.
#pragma once
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::topi {

using Axes = std::vector<int64_t>;

/// 0, 1, ..., ndim - 1
Axes all_axes(size_t ndim);
Tensor sum(const Tensor& x, const Axes& axes, bool keepdims = false);
Tensor prod(const Tensor& x, const Axes& axes, bool keepdims = false);
Tensor max(const Tensor& x, const Axes& axes, bool keepdims = false);
Tensor min(const Tensor& x, const Axes& axes, bool keepdims = false);
Tensor any(const Tensor& x, const Axes& axes, bool keepdims = false);
Tensor all(const Tensor& x, const Axes& axes, bool keepdims = false);
Tensor mean(const Tensor& x, const Axes& axes, bool keepdims = false);
/// The mean of the squared distances from the mean.
Tensor variance(const Tensor& x, const Axes& axes, bool keepdims = false);
/// The square root of the variance.
Tensor standard_deviation(const Tensor& x, const Axes& axes, bool keepdims = false);
/// Mean and variance, or mean of the squares, in dtype_of_sums, for computations that continue with them.
struct Moments {
  Tensor mean, variance;
};
Moments moments(const Tensor& x, const Axes& axes, bool keepdims);
Tensor mean_of_squares(const Tensor& x, const Axes& axes, bool keepdims);
/// The sum, not rounded from dtype_of_sums.
Tensor wide_sum(const Tensor& x, const Axes& axes, bool keepdims = false);
/// The position of the largest (smallest) value, the first of equal ones; a NaN counts as the largest
/// (smallest).  Over several axes it is the position in their row-major order.
Tensor argmax(const Tensor& x, const Axes& axes, bool keepdims = false, DataType dtype = kInt64);
Tensor argmin(const Tensor& x, const Axes& axes, bool keepdims = false, DataType dtype = kInt64);
/// The sums of the elements up to and including each one along `axis`.
Tensor cumsum(const Tensor& x, int64_t axis, bool exclusive = false, bool reverse = false);
/// The products of the elements up to and including each one along `axis`.
Tensor cumprod(const Tensor& x, int64_t axis, bool exclusive = false, bool reverse = false);
/// The sum of `x` over what broadcasting from `shape` to the shape of `x` repeats.
Tensor collapse_sum(const Tensor& x, const Shape& shape);

/// The number of elements that a reduction over `axes` combines, as `dtype`.
PrimExpr count_of(const Tensor& x, const Axes& axes, DataType dtype);
Shape reduced_shape(const Shape& shape, const Axes& axes, bool keepdims);

}  // namespace tilewright::topi
