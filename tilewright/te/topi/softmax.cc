#include "tilewright/te/topi/softmax.h"

#include "tilewright/te/topi/reduce.h"

namespace tilewright::topi {
using namespace tir;
namespace {

std::vector<PrimExpr> without(const std::vector<Var>& i, int64_t axis) {
  std::vector<PrimExpr> result(i.begin(), i.end());
  result.erase(result.begin() + axis);
  return result;
}

Tensor named_reduce(const Tensor& x, int64_t axis, std::string name, bool is_max) {
  const IterVar k = te::reduce_axis(x.shape()[static_cast<size_t>(axis)], "k");
  return te::compute(reduced_shape(x.shape(), {axis}, false),
                     [&](const std::vector<Var>& i) {
                       std::vector<PrimExpr> indices(i.begin(), i.end());
                       indices.insert(indices.begin() + axis, k->var);
                       const PrimExpr element = widened(x.at(indices));
                       return is_max ? te::max(element, {k}) : te::sum(element, {k});
                     },
                     {.name = std::move(name)});
}

// Along the last axis a row has one divisor, whose inverse is computed once; the rounding of the inverse is
// small beside the error of the exponentials.
PrimExpr divide_by_sum(const PrimExpr& value, const PrimExpr& sum, bool is_last_axis) {
  const DataType dtype = value->dtype;
  return is_last_axis && dtype.is_float() ? value * div(make_const(dtype, 1), sum) : div(value, sum);
}

/// The maximum, exp(x - maximum) and its sum, in dtype_of_sums.
struct Parts {
  Tensor x;
  int64_t axis;
  Tensor largest = named_reduce(x, axis, "T_softmax_maxelem", true);
  Tensor exp = te::compute(x.shape(),
                           [&](const std::vector<Var>& i) {
                             const PrimExpr distance = shifted(i);
                             return call(distance->dtype, "exp", {distance});
                           },
                           {.name = "T_softmax_exp"});
  Tensor total = named_reduce(exp, axis, "T_softmax_expsum", false);

  PrimExpr shifted(const std::vector<Var>& i) const {
    return widened(x.at({i.begin(), i.end()})) - largest.at(without(i, axis));
  }
};

}  // namespace

Tensor softmax(const Tensor& x, int64_t axis) {
  const Parts parts{x, axis};
  const bool is_last_axis = axis + 1 == static_cast<int64_t>(x.shape().size());
  return te::compute(x.shape(),
                     [&](const std::vector<Var>& i) {
                       return tir::cast(x.dtype(),
                                        divide_by_sum(parts.exp.at({i.begin(), i.end()}),
                                                      parts.total.at(without(i, axis)), is_last_axis));
                     },
                     {.name = "T_softmax_norm"});
}

Tensor log_softmax(const Tensor& x, int64_t axis) {
  const Parts parts{x, axis};
  return te::compute(x.shape(),
                     [&](const std::vector<Var>& i) {
                       const PrimExpr sum = parts.total.at(without(i, axis));
                       return tir::cast(x.dtype(), parts.shifted(i) - call(sum->dtype, "log", {sum}));
                     },
                     {.name = "T_log_softmax"});
}

}  // namespace tilewright::topi
