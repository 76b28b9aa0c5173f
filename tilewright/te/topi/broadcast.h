// Elementwise work on several tensors whose shapes broadcast as numpy's do.
// Source: numpy.org/doc/stable/user/basics.broadcasting.html
#pragma once
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::topi {

/// The extent of what extents `x` and `y`, which are equal or of which one is 1, broadcast to.  That it is so
/// must be known: operators of graphs require it (relax/infer/requirements.h).
PrimExpr broadcast_extent(const PrimExpr& x, const PrimExpr& y);
/// The common shape, extent by extent.  Raises UserError for constants that are neither equal nor 1.
Shape broadcast_shape(const Shape& a, const Shape& b);
/// The index of a dimension of extent `extent`, which broadcasts to `result`, where the result's is `axis`.
PrimExpr broadcast_index(const PrimExpr& extent, const PrimExpr& result, const PrimExpr& axis);
/// The element of `x` at the axes of a result that `x` broadcasts to.
PrimExpr broadcast_at(const Tensor& x, const std::vector<tir::Var>& axes, const Shape& result_shape);

using Combine = std::function<PrimExpr(PrimExpr, PrimExpr)>;
/// The tensor of `combine(a[...], b[...])`.
Tensor binary(const Tensor& a, const Tensor& b, std::string name, const Combine& combine);

Tensor add(const Tensor& a, const Tensor& b);
Tensor subtract(const Tensor& a, const Tensor& b);
Tensor multiply(const Tensor& a, const Tensor& b);
/// True division of floats, truncating of integers.
Tensor divide(const Tensor& a, const Tensor& b);
Tensor floor_divide(const Tensor& a, const Tensor& b);
/// The remainder with the sign of b (Python, numpy.mod); exact but for the sum with b.
Tensor mod(const Tensor& a, const Tensor& b);
/// The exact remainder with the sign of a (C, numpy.fmod).
Tensor truncmod(const Tensor& a, const Tensor& b);
/// Of integers exact, and wraps around; negative exponents round towards zero.
Tensor power(const Tensor& a, const Tensor& b);
/// The angle of the point (b, a), from -pi to pi.
Tensor atan2(const Tensor& a, const Tensor& b);
Tensor maximum(const Tensor& a, const Tensor& b);
Tensor minimum(const Tensor& a, const Tensor& b);
/// log(exp(a) + exp(b)), without overflow
Tensor log_add_exp(const Tensor& a, const Tensor& b);
Tensor equal(const Tensor& a, const Tensor& b);
Tensor not_equal(const Tensor& a, const Tensor& b);
Tensor less(const Tensor& a, const Tensor& b);
Tensor less_equal(const Tensor& a, const Tensor& b);
Tensor greater(const Tensor& a, const Tensor& b);
Tensor greater_equal(const Tensor& a, const Tensor& b);
Tensor logical_and(const Tensor& a, const Tensor& b);
Tensor logical_or(const Tensor& a, const Tensor& b);
Tensor logical_xor(const Tensor& a, const Tensor& b);
Tensor bitwise_and(const Tensor& a, const Tensor& b);
Tensor bitwise_or(const Tensor& a, const Tensor& b);
Tensor bitwise_xor(const Tensor& a, const Tensor& b);
Tensor left_shift(const Tensor& a, const Tensor& b);
Tensor right_shift(const Tensor& a, const Tensor& b);
/// a where condition, else b; all three broadcast.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
Tensor broadcast_to(const Tensor& x, const Shape& shape);
/// x where x > 0, else slope * x; slope broadcasts.
Tensor prelu(const Tensor& x, const Tensor& slope);

}  // namespace tilewright::topi
