// Moving elements: shapes, orders, parts.  Axes are in 0 .. ndim - 1.
#pragma once
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::topi {

/// The same elements in row-major order with another shape.
Tensor reshape(const Tensor& x, const Shape& shape);
/// Dimension n of the result is dimension axes[n] of x.
Tensor transpose(const Tensor& x, const std::vector<int64_t>& axes);
/// The dimensions of the result are those of `shape`, which has ones more than x at `axes` (positions in the
/// result).
Tensor expand_dims(const Tensor& x, const std::vector<int64_t>& axes);
/// Without the dimensions `axes`, each of extent 1.
Tensor squeeze(const Tensor& x, const std::vector<int64_t>& axes);
Tensor concat(const std::vector<Tensor>& tensors, int64_t axis);
/// Elements begin, begin + stride, ... of each dimension; begins are within the tensor, `shape` is that of
/// the result.
Tensor strided_slice(const Tensor& x, const Shape& begin, const Shape& strides, const Shape& shape);
/// Pieces along `axis` that start at 0 and at each of `starts`.
std::vector<Tensor> split(const Tensor& x, const std::vector<PrimExpr>& starts, int64_t axis);
/// Element `indices[...]` of dimension `axis`; negative indices count from the end.  "clip": others are moved
/// to the nearest valid one; "wrap": taken modulo the extent; "fast": promised to be valid.
Tensor take(const Tensor& x, const Tensor& indices, int64_t axis, const std::string& mode);
/// x repeated repeats[n] times along dimension n.
Tensor tile(const Tensor& x, const std::vector<int64_t>& repeats);
/// Each element repeated along `axis`.
Tensor repeat(const Tensor& x, int64_t repeats, int64_t axis);
Tensor flip(const Tensor& x, int64_t axis);
/// The first lengths[i] elements along `axis` in reverse order, i the index along `batch_axis`; a length
/// outside of the extent counts as the nearest inside.
Tensor reverse_sequence(const Tensor& x, const Tensor& lengths, int64_t axis, int64_t batch_axis);
Tensor full(const Shape& shape, DataType dtype, const PrimExpr& value);
/// start, start + step, ...
Tensor arange(const PrimExpr& start, const PrimExpr& step, const PrimExpr& count, DataType dtype);
/// `x` extended by its own elements: mode "edge" repeats the last, "reflect" mirrors without it.
Tensor pad_with_own(const Tensor& x, const std::vector<int64_t>& before, const std::vector<int64_t>& after,
                    const std::string& mode);

}  // namespace tilewright::topi
