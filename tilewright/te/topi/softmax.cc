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
                       return is_max ? te::max(x.at(indices), {k}) : te::sum(x.at(indices), {k});
                     },
                     {.name = std::move(name)});
}

// Along the last axis a row has one divisor, whose inverse is computed once; that it is rounded is lost in
// the error of the exponentials.  Not that of half precision, whose inverse has few bits if the sum is large.
PrimExpr divide_by_sum(const PrimExpr& value, const PrimExpr& sum, bool is_last_axis) {
  const DataType dtype = value->dtype;
  if (!is_last_axis || !dtype.is_float() || dtype.bits < 32) return div(value, sum);
  return value * div(make_const(dtype, 1), sum);
}

}  // namespace

Tensor softmax(const Tensor& x, int64_t axis) {
  const Tensor largest = named_reduce(x, axis, "T_softmax_maxelem", true);
  const Tensor exp = te::compute(x.shape(),
                                 [&](const std::vector<Var>& i) {
                                   return call(x.dtype(), "exp",
                                               {x.at({i.begin(), i.end()}) - largest.at(without(i, axis))});
                                 },
                                 {.name = "T_softmax_exp"});
  const Tensor total = named_reduce(exp, axis, "T_softmax_expsum", false);
  return te::compute(x.shape(),
                     [&](const std::vector<Var>& i) {
                       return divide_by_sum(exp.at({i.begin(), i.end()}), total.at(without(i, axis)),
                                            axis + 1 == static_cast<int64_t>(x.shape().size()));
                     },
                     {.name = "T_softmax_norm"});
}

Tensor log_softmax(const Tensor& x, int64_t axis) {
  const Tensor largest = named_reduce(x, axis, "T_softmax_maxelem", true);
  const Tensor exp = te::compute(x.shape(),
                                 [&](const std::vector<Var>& i) {
                                   return call(x.dtype(), "exp",
                                               {x.at({i.begin(), i.end()}) - largest.at(without(i, axis))});
                                 },
                                 {.name = "T_softmax_exp"});
  const Tensor total = named_reduce(exp, axis, "T_softmax_expsum", false);
  return te::compute(x.shape(),
                     [&](const std::vector<Var>& i) {
                       return x.at({i.begin(), i.end()}) - largest.at(without(i, axis)) -
                              call(x.dtype(), "log", {total.at(without(i, axis))});
                     },
                     {.name = "T_log_softmax"});
}

}  // namespace tilewright::topi
