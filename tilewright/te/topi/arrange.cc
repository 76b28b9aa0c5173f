#include "tilewright/te/topi/arrange.h"

#include <cmath>

#include "tilewright/arith/analyzer.h"

namespace tilewright::topi {
using namespace tir;

Tensor stack(const std::vector<Tensor>& tensors, int64_t axis) {
  Shape shape = tensors[0].shape();
  shape.insert(shape.begin() + axis, imm(static_cast<int64_t>(tensors.size()), kInt64));
  return te::compute(shape,
                     [&](const std::vector<Var>& i) {
                       std::vector<PrimExpr> at(i.begin(), i.end());
                       const PrimExpr which = at[static_cast<size_t>(axis)];
                       at.erase(at.begin() + axis);
                       PrimExpr result = tensors.back().at(at);
                       for (size_t n = tensors.size() - 1; n-- > 0;) {
                         const PrimExpr is_this = tir::equal(which, imm(static_cast<int64_t>(n), kInt64));
                         result = call(result->dtype, "if_then_else", {is_this, tensors[n].at(at), result});
                       }
                       return result;
                     },
                     {.name = "T_stack"});
}

Tensor spread(const Tensor& vector, const Shape& shape, size_t along) {
  return te::compute(
      shape,
      [&](const std::vector<Var>& i) { return vector.ndim() == 0 ? vector.at({}) : vector.at({i[along]}); },
      {.name = "T_meshgrid"});
}

Tensor triangle(const Tensor& x, const PrimExpr& k, bool upper) {
  return te::compute(x.shape(),
                     [&](const std::vector<Var>& i) {
                       const PrimExpr row = i[i.size() - 2], column = i[i.size() - 1], limit = row + k;
                       const PrimExpr value = x.at({i.begin(), i.end()});
                       return select(upper ? column >= limit : column <= limit, value,
                                     make_const_int(value->dtype, 0));
                     },
                     {.name = upper ? "T_triu" : "T_tril"});
}

Tensor eye(const Shape& shape, const PrimExpr& k, DataType dtype) {
  return te::compute(shape,
                     [&](const std::vector<Var>& i) {
                       return select(tir::equal(PrimExpr(i[1]), PrimExpr(i[0]) + k), make_const_int(dtype, 1),
                                     make_const_int(dtype, 0));
                     },
                     {.name = "T_eye"});
}

Tensor hamming_window(const PrimExpr& length, bool periodic, double alpha, double beta, DataType dtype) {
  return te::compute(
      {length},
      [&](const std::vector<Var>& i) {
        const DataType wide = DataType::float_(64);
        const PrimExpr period =
            tir::cast(wide, periodic ? length : tir::max(length - 1, make_const_int(length->dtype, 1)));
        const PrimExpr angle = div(tir::cast(wide, i[0]) * make_const(wide, 2 * M_PI), period);
        const PrimExpr wave = call(wide, "cos", {angle}) * make_const(wide, beta);
        const PrimExpr value = make_const(wide, alpha) - wave;
        const PrimExpr one = make_const(wide, 1);  // as torch: a window of one element is 1
        return tir::cast(dtype, select(tir::equal(length, make_const_int(length->dtype, 1)), one, value));
      },
      {.name = "T_hamming_window"});
}

Tensor pixel_shuffle(const Tensor& x, int64_t factor) {
  const size_t ndim = x.ndim();
  Shape shape = x.shape();
  shape[ndim - 3] = arith::simplify(floordiv(shape[ndim - 3], factor * factor));
  shape[ndim - 2] = shape[ndim - 2] * factor;
  shape[ndim - 1] = shape[ndim - 1] * factor;
  return te::compute(shape,
                     [&](const std::vector<Var>& i) {
                       std::vector<PrimExpr> at(i.begin(), i.end());
                       const PrimExpr channel = at[ndim - 3], row = at[ndim - 2], column = at[ndim - 1];
                       at[ndim - 3] = channel * (factor * factor) + floormod(row, factor) * factor +
                                      floormod(column, factor);
                       at[ndim - 2] = floordiv(row, factor);
                       at[ndim - 1] = floordiv(column, factor);
                       return x.at(at);
                     },
                     {.name = "T_pixel_shuffle"});
}

Tensor pad_circular(const Tensor& x, const std::vector<int64_t>& before, const std::vector<int64_t>& after) {
  Shape shape;
  for (size_t n = 0; n < x.ndim(); ++n)
    shape.push_back(arith::simplify(x.shape()[n] + (before[n] + after[n])));
  return te::compute(shape,
                     [&](const std::vector<Var>& i) {
                       std::vector<PrimExpr> at(i.begin(), i.end());
                       for (size_t n = 0; n < x.ndim(); ++n) {
                         if (before[n] != 0 || after[n] != 0)
                           at[n] = floormod(at[n] - before[n], x.shape()[n]);
                       }
                       return x.at(at);
                     },
                     {.name = "T_pad"});
}

}  // namespace tilewright::topi
