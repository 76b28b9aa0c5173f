#include "tilewright/te/topi/gather.h"

#include "tilewright/te/topi/broadcast.h"
#include "tilewright/te/topi/reduce.h"

namespace tilewright::topi {
using namespace tir;
namespace {

// `index` into a dimension of `extent`; a negative one counts from the end.  Indices are data: one out of
// bounds is clamped, so that no memory outside the tensor is read.
PrimExpr wrapped(const PrimExpr& index, const PrimExpr& extent) {
  PrimExpr at = tir::cast(extent->dtype, index);
  const PrimExpr zero = make_const_int(at->dtype, 0);
  if (index->dtype.is_int()) at = select(at < zero, at + extent, at);
  return tir::min(tir::max(at, zero), extent - 1);
}

Shape part(const Shape& shape, size_t begin, size_t end) {
  return Shape(shape.begin() + static_cast<long>(begin), shape.begin() + static_cast<long>(end));
}

}  // namespace

Tensor gather_elements(const Tensor& x, const Tensor& indices, int64_t axis) {
  const auto dim = static_cast<size_t>(axis);
  return te::compute(indices.shape(),
                     [&](const std::vector<Var>& i) {
                       std::vector<PrimExpr> at(i.begin(), i.end());
                       at[dim] = wrapped(indices.at(at), x.shape()[dim]);
                       return x.at(at);
                     },
                     {.name = "T_gather"});
}

Tensor gather_nd(const Tensor& x, const Tensor& indices, int64_t batch_dims) {
  int64_t depth = 0;
  as_const_int(indices.shape().back(), &depth);
  const size_t num_places = indices.ndim() - 1;
  const auto skipped = static_cast<size_t>(batch_dims + depth);
  Shape shape = part(indices.shape(), 0, num_places);
  for (size_t n = skipped; n < x.ndim(); ++n) shape.push_back(x.shape()[n]);
  return te::compute(
      shape,
      [&](const std::vector<Var>& i) {
        std::vector<PrimExpr> at(i.begin(), i.begin() + batch_dims);
        for (int64_t n = 0; n < depth; ++n) {
          std::vector<PrimExpr> place(i.begin(), i.begin() + static_cast<long>(num_places));
          place.push_back(imm(n, kInt64));
          at.push_back(wrapped(indices.at(place), x.shape()[static_cast<size_t>(batch_dims + n)]));
        }
        at.insert(at.end(), i.begin() + static_cast<long>(num_places), i.end());
        return x.at(at);
      },
      {.name = "T_gather_nd"});
}

Tensor index_tensor(const Tensor& x, const std::vector<Tensor>& indices, const Shape& places) {
  Shape shape = places;
  for (size_t n = indices.size(); n < x.ndim(); ++n) shape.push_back(x.shape()[n]);
  return te::compute(shape,
                     [&](const std::vector<Var>& i) {
                       const std::vector<Var> place(i.begin(), i.begin() + static_cast<long>(places.size()));
                       std::vector<PrimExpr> at;
                       for (size_t n = 0; n < indices.size(); ++n)
                         at.push_back(wrapped(broadcast_at(indices[n], place, places), x.shape()[n]));
                       at.insert(at.end(), i.begin() + static_cast<long>(places.size()), i.end());
                       return x.at(at);
                     },
                     {.name = "T_index"});
}

Tensor one_hot(const Tensor& indices, const PrimExpr& on_value, const PrimExpr& off_value, int64_t depth,
               int64_t axis, DataType dtype) {
  Shape shape = indices.shape();
  shape.insert(shape.begin() + axis, imm(depth, kInt64));
  return te::compute(shape,
                     [&](const std::vector<Var>& i) {
                       std::vector<PrimExpr> at(i.begin(), i.end());
                       const PrimExpr position = at[static_cast<size_t>(axis)];
                       at.erase(at.begin() + axis);
                       return select(tir::equal(tir::cast(position->dtype, indices.at(at)), position),
                                     tir::cast(dtype, on_value), tir::cast(dtype, off_value));
                     },
                     {.name = "T_one_hot"});
}

Tensor slice_scatter(const Tensor& x, const Tensor& source, const PrimExpr& begin, const PrimExpr& stride,
                     int64_t axis) {
  const auto dim = static_cast<size_t>(axis);
  return te::compute(x.shape(),
                     [&](const std::vector<Var>& i) {
                       std::vector<PrimExpr> at(i.begin(), i.end());
                       const PrimExpr old = x.at(at), distance = at[dim] - begin;
                       at[dim] = floordiv(distance, stride);
                       PrimExpr hit = tir::logical_and(make_const_int(distance->dtype, 0) <= distance,
                                                       at[dim] < source.shape()[dim]);
                       if (!is_one(stride))
                         hit = tir::logical_and(
                             hit, tir::equal(floormod(distance, stride), make_const_int(distance->dtype, 0)));
                       return call(old->dtype, "if_then_else", {hit, source.at(at), old});
                     },
                     {.name = "T_slice_scatter"});
}

Tensor searchsorted(const Tensor& sorted, const Tensor& x, bool right, DataType dtype) {
  const IterVar k = te::reduce_axis(sorted.shape().back(), "k");
  return te::compute(x.shape(),
                     [&](const std::vector<Var>& i) {
                       std::vector<PrimExpr> at{k->var};
                       if (sorted.ndim() > 1) at.insert(at.begin(), i.begin(), i.end() - 1);
                       const PrimExpr value = x.at({i.begin(), i.end()}), bound = sorted.at(at);
                       // not (value < bound): NaN is then after all others
                       const PrimExpr is_before = tir::logical_not(right ? value < bound : value <= bound);
                       return te::sum(tir::cast(dtype, is_before), {k});
                     },
                     {.name = "T_searchsorted"});
}

Tensor multinomial(const Tensor& prob, const Tensor& uniform, const Tensor& sample_indices, DataType dtype) {
  const Tensor total = cumsum(prob, 1);
  const IterVar k = te::reduce_axis(prob.shape()[1] - 1, "k");
  return te::compute(uniform.shape(),
                     [&](const std::vector<Var>& i) {
                       const PrimExpr row = wrapped(sample_indices.at({i[0], i[1]}), prob.shape()[0]);
                       const PrimExpr is_before = total.at({row, k->var}) < uniform.at({i[0], i[1]});
                       return te::sum(tir::cast(dtype, is_before), {k});
                     },
                     {.name = "T_multinomial"});
}

}  // namespace tilewright::topi
