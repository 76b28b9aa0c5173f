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
                       return div(exp.at({i.begin(), i.end()}), total.at(without(i, axis)));
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
