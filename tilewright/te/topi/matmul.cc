#include "tilewright/te/topi/matmul.h"

#include "tilewright/te/topi/broadcast.h"

namespace tilewright::topi {
using namespace tir;

std::vector<PrimExpr> batch_indices(const Tensor& x, size_t first, size_t count, const std::vector<Var>& i,
                                    const Shape& batch) {
  std::vector<PrimExpr> indices;
  for (size_t n = 0; n < count; ++n) {
    const size_t at = batch.size() - count + n;
    const PrimExpr& extent = x.shape()[first + n];
    indices.push_back(is_one(extent) ? make_const_int(i[at]->dtype, 0)
                                     : broadcast_index(extent, batch[at], i[at]));
  }
  return indices;
}

Tensor matmul(const Tensor& a, const Tensor& b, DataType out_dtype) {
  if (out_dtype.is_void()) out_dtype = a.dtype();
  const bool a_is_vector = a.ndim() == 1, b_is_vector = b.ndim() == 1;
  const size_t a_batch = a_is_vector ? 0 : a.ndim() - 2, b_batch = b_is_vector ? 0 : b.ndim() - 2;
  Shape shape = broadcast_shape({a.shape().begin(), a.shape().begin() + static_cast<long>(a_batch)},
                                {b.shape().begin(), b.shape().begin() + static_cast<long>(b_batch)});
  const Shape batch = shape;
  const size_t num_batch = batch.size();
  if (!a_is_vector) shape.push_back(a.shape()[a_batch]);
  if (!b_is_vector) shape.push_back(b.shape().back());
  const IterVar k = te::reduce_axis(a.shape().back(), "k");
  const DataType dtype = dtype_of_sums(out_dtype);
  const Tensor sums =
      te::compute(shape,
                  [&](const std::vector<Var>& i) {
                    std::vector<PrimExpr> left = batch_indices(a, 0, a_batch, i, batch),
                                          right = batch_indices(b, 0, b_batch, i, batch);
                    if (!a_is_vector) left.push_back(i[num_batch]);
                    left.push_back(k->var);
                    right.push_back(k->var);
                    if (!b_is_vector) right.push_back(i.back());
                    return te::sum(tir::cast(dtype, a.at(left)) * tir::cast(dtype, b.at(right)), {k});
                  },
                  {.name = "matmul"});
  return rounded_to(sums, out_dtype);
}

Tensor dense(const Tensor& x, const Tensor& weight, DataType out_dtype) {
  if (out_dtype.is_void()) out_dtype = x.dtype();
  const IterVar k = te::reduce_axis(x.shape()[1], "k");
  const DataType dtype = dtype_of_sums(out_dtype);
  const Tensor sums = te::compute(
      {x.shape()[0], weight.shape()[0]},
      [&](const std::vector<Var>& i) {
        return te::sum(tir::cast(dtype, x(i[0], k->var)) * tir::cast(dtype, weight(i[1], k->var)), {k});
      },
      {.name = "T_dense"});
  return rounded_to(sums, out_dtype);
}

}  // namespace tilewright::topi
