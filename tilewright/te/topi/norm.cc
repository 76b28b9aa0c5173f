#include "tilewright/te/topi/norm.h"

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/services.h"

namespace tilewright::topi {
using namespace tir;
namespace {

std::vector<PrimExpr> pick(const std::vector<Var>& i, const Axes& axes) {
  std::vector<PrimExpr> result;
  for (int64_t axis : axes) result.push_back(i[static_cast<size_t>(axis)]);
  return result;
}

// The index into a statistic that was reduced over `axes` with keepdims.
std::vector<PrimExpr> kept(const std::vector<Var>& i, const Axes& axes) {
  std::vector<PrimExpr> result(i.begin(), i.end());
  for (int64_t axis : axes)
    result[static_cast<size_t>(axis)] = make_const_int(i[static_cast<size_t>(axis)]->dtype, 0);
  return result;
}

PrimExpr inverse_root(const PrimExpr& v, double epsilon) {
  return call(v->dtype, "rsqrt", {v + make_const(v->dtype, epsilon)});
}

}  // namespace

Tensor batch_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, const Tensor& mean,
                  const Tensor& variance, int64_t axis, double epsilon, bool center, bool scale) {
  return te::compute(x.shape(),
                     [&](const std::vector<Var>& i) {
                       const std::vector<PrimExpr> c = pick(i, {axis});
                       PrimExpr v = widened(variance.at(c));
                       PrimExpr result = div(widened(x.at({i.begin(), i.end()})) - widened(mean.at(c)),
                                             call(v->dtype, "sqrt", {v + make_const(v->dtype, epsilon)}));
                       if (scale) result = result * widened(gamma.at(c));
                       if (center) result = result + widened(beta.at(c));
                       return tir::cast(x.dtype(), result);
                     },
                     {.name = "T_batch_norm"});
}

Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, const Axes& axes, double epsilon,
                  bool center, bool scale) {
  const auto [center_of, spread] = moments(x, axes, true);
  return te::compute(x.shape(),
                     [&](const std::vector<Var>& i) {
                       PrimExpr result = (widened(x.at({i.begin(), i.end()})) - center_of.at(kept(i, axes))) *
                                         inverse_root(spread.at(kept(i, axes)), epsilon);
                       if (scale) result = result * widened(gamma.at(pick(i, axes)));
                       if (center) result = result + widened(beta.at(pick(i, axes)));
                       return tir::cast(x.dtype(), result);
                     },
                     {.name = "T_layer_norm"});
}

Tensor rms_norm(const Tensor& x, const Tensor& weight, const Axes& axes, double epsilon) {
  const Tensor power = mean_of_squares(x, axes, true);
  return te::compute(x.shape(),
                     [&](const std::vector<Var>& i) {
                       return tir::cast(x.dtype(), widened(x.at({i.begin(), i.end()})) *
                                                       inverse_root(power.at(kept(i, axes)), epsilon) *
                                                       widened(weight.at(pick(i, axes))));
                     },
                     {.name = "T_rms_norm"});
}

Tensor group_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, const PrimExpr& num_groups,
                  int64_t channel_axis, const Axes& axes, double epsilon, bool center, bool scale) {
  // channels as [groups, channels per group]
  const auto channel = static_cast<size_t>(channel_axis);
  const PrimExpr channels = x.shape()[channel];
  const PrimExpr group_size = structural_equal(channels, num_groups)
                                  ? imm(1, kInt64)
                                  : arith::simplify(floordiv(channels, num_groups));
  Shape shape = x.shape();
  shape[channel] = num_groups;
  shape.insert(shape.begin() + channel_axis + 1, group_size);
  const Tensor grouped = te::compute(shape,
                                     [&](const std::vector<Var>& i) {
                                       std::vector<PrimExpr> at(i.begin(), i.end());
                                       at[channel] = at[channel] * group_size + at[channel + 1];
                                       at.erase(at.begin() + channel_axis + 1);
                                       return x.at(at);
                                     },
                                     {.name = "T_groups"});
  Axes reduced{channel_axis + 1};
  for (int64_t axis : axes) reduced.push_back(axis > channel_axis ? axis + 1 : axis);
  const auto [center_of, spread] = moments(grouped, reduced, true);
  return te::compute(x.shape(),
                     [&](const std::vector<Var>& i) {
                       std::vector<PrimExpr> at(i.begin(), i.end());
                       at[channel] = floordiv(at[channel], group_size);
                       at.insert(at.begin() + channel_axis + 1, imm(0, kInt64));
                       for (int64_t axis : reduced) at[static_cast<size_t>(axis)] = imm(0, kInt64);
                       PrimExpr result = (widened(x.at({i.begin(), i.end()})) - center_of.at(at)) *
                                         inverse_root(spread.at(at), epsilon);
                       if (scale) result = result * widened(gamma.at({i[channel]}));
                       if (center) result = result + widened(beta.at({i[channel]}));
                       return tir::cast(x.dtype(), result);
                     },
                     {.name = "T_group_norm"});
}

}  // namespace tilewright::topi
