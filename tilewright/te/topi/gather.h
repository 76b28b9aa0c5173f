// Elements chosen by tensors of indices.  Negative indices count from the end; others must be valid.
#pragma once
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::topi {

/// result[i, .., j] = x[i, .., indices[i, .., j], .., j] with the index at `axis`, in the shape of `indices`.
/// Source: onnx.ai/onnx/operators GatherElements 13
Tensor gather_elements(const Tensor& x, const Tensor& indices, int64_t axis);
/// result[b, i, ..] = x[b, indices[b, i, 0], indices[b, i, 1], .., ..]; the first `batch_dims` dimensions are
/// shared.  Source: onnx.ai/onnx/operators GatherND 13
Tensor gather_nd(const Tensor& x, const Tensor& indices, int64_t batch_dims);
/// x[indices[0], indices[1], ..] as in numpy, with the indices broadcast to the shape `places`.
Tensor index_tensor(const Tensor& x, const std::vector<Tensor>& indices, const Shape& places);
/// on_value where the position along the new dimension `axis` is the index, else off_value.
Tensor one_hot(const Tensor& indices, const PrimExpr& on_value, const PrimExpr& off_value, int64_t depth,
               int64_t axis, DataType dtype);
/// `x` with x[begin::stride] along `axis` replaced by the elements of `source`.
Tensor slice_scatter(const Tensor& x, const Tensor& source, const PrimExpr& begin, const PrimExpr& stride,
                     int64_t axis);
/// For each element of x the number of elements before it in a row of `sorted`, which is [.., n] with the
/// leading dimensions of x, or [n].  `right` counts those that are equal, too.  NaN is after all others.
/// Source: numpy.searchsorted, torch.searchsorted
Tensor searchsorted(const Tensor& sorted, const Tensor& x, bool right, DataType dtype);
/// For each row of `uniform` [m, 1] the first class whose cumulative probability, in row sample_indices[m, 0]
/// of `prob` [n, classes], is not below it.
Tensor multinomial(const Tensor& prob, const Tensor& uniform, const Tensor& sample_indices, DataType dtype);

}  // namespace tilewright::topi
