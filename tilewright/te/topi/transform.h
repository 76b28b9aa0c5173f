// Moves of elements: shapes, permutations, slices.  Axes are in 0 .. ndim - 1.
#pragma once
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::topi {

/// The same elements in row-major order in another shape.
Tensor reshape(const Tensor& x, const Shape& shape);
/// Dimension n of the result is dimension axes[n] of x.
Tensor transpose(const Tensor& x, const std::vector<int64_t>& axes);
/// `x` with dimensions of extent 1 inserted at `axes` (positions in the result).
Tensor expand_dims(const Tensor& x, const std::vector<int64_t>& axes);
/// `x` without the dimensions `axes`, each of extent 1.
Tensor squeeze(const Tensor& x, const std::vector<int64_t>& axes);
Tensor concat(const std::vector<Tensor>& tensors, int64_t axis);
/// The elements begin, begin + stride, ... of each dimension.  `begin` lies within the tensor; `shape` is the
/// shape of the result.
Tensor strided_slice(const Tensor& x, const Shape& begin, const Shape& strides, const Shape& shape);
/// The slices along `axis` that start at 0 and at each of `starts`.
std::vector<Tensor> split(const Tensor& x, const std::vector<PrimExpr>& starts, int64_t axis);
/// Element `indices[...]` along dimension `axis`; negative indices count from the end.  mode "clip" clamps
/// indices out of bounds, "wrap" takes them modulo the extent, "fast" promises that there are none.
Tensor take(const Tensor& x, const Tensor& indices, int64_t axis, const std::string& mode);
/// `x` repeated repeats[n] times along dimension n.
Tensor tile(const Tensor& x, const std::vector<int64_t>& repeats);
/// Each element repeated along `axis`.
Tensor repeat(const Tensor& x, int64_t repeats, int64_t axis);
Tensor flip(const Tensor& x, int64_t axis);
/// `x` with the first lengths[i] elements along `axis` reversed, where i is the index along `batch_axis`;
/// lengths are clamped to 0 .. extent.
Tensor reverse_sequence(const Tensor& x, const Tensor& lengths, int64_t axis, int64_t batch_axis);
Tensor full(const Shape& shape, DataType dtype, const PrimExpr& value);
/// start, start + step, ...
Tensor arange(const PrimExpr& start, const PrimExpr& step, const PrimExpr& count, DataType dtype);
/// `x` padded with its own elements: mode "edge" repeats the last, "reflect" mirrors without repeating it.
Tensor pad_with_own(const Tensor& x, const std::vector<int64_t>& before, const std::vector<int64_t>& after,
                    const std::string& mode);

}  // namespace tilewright::topi
