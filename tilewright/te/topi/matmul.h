// Matrix products.
#pragma once
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::topi {

/// The matrix product of numpy.matmul: [.., m, k] x [.., k, n] -> [.., m, n].  Batch dimensions broadcast; a
/// vector is a row on the left and a column on the right.  The result is of `out_dtype` (void: that of `a`);
/// sums are accumulated in dtype_of_sums.
Tensor matmul(const Tensor& a, const Tensor& b, DataType out_dtype = DataType::void_());
/// The indices of the `count` batch dimensions of `x` from `first` on, at the axes `i` of a product whose
/// first dimensions are `batch`.
std::vector<PrimExpr> batch_indices(const Tensor& x, size_t first, size_t count,
                                    const std::vector<tir::Var>& i, const Shape& batch);
/// [m, k] x [n, k] -> [m, n]: x times the transpose of the weight.
Tensor dense(const Tensor& x, const Tensor& weight, DataType out_dtype = DataType::void_());

}  // namespace tilewright::topi
