#include "tilewright/te/topi/conv_transpose.h"

#include <algorithm>
#include <numeric>

#include "tilewright/arith/analyzer.h"
#include "tilewright/te/topi/conv.h"

namespace tilewright::topi {
using namespace tir;
namespace {

int64_t divided_down(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// The stride and the distance of kernel elements have this factor in common: phases that it does not divide
// are zero.
int64_t common_factor(const TransposedAxis& axis) { return std::gcd(axis.stride, axis.dilation); }

// The number of residues of kernel elements.
int64_t period_of(const TransposedAxis& axis) { return axis.stride / common_factor(axis); }

// The distance in data of two elements of one residue.
int64_t step_of(const TransposedAxis& axis) { return axis.dilation / common_factor(axis); }

// The number whose product with step_of(axis) is 1 modulo the period.
int64_t inverse_of(const TransposedAxis& axis) {
  const int64_t period = period_of(axis);
  int64_t inverse = 1;
  while (inverse < period && inverse * step_of(axis) % period != 1 % period) ++inverse;
  return inverse;
}

PrimExpr divided(const PrimExpr& a, int64_t b) { return b == 1 ? a : arith::simplify(floordiv(a, b)); }
PrimExpr rest(const PrimExpr& a, int64_t b) {
  return b == 1 ? make_const_int(a->dtype, 0) : arith::simplify(floormod(a, b));
}
PrimExpr plus(const PrimExpr& a, int64_t b) { return b == 0 ? a : arith::simplify(a + b); }

// The residue of the kernel elements for element `place` of the full result.
PrimExpr residue_of(const TransposedAxis& axis, const PrimExpr& place) {
  const PrimExpr phase = divided(rest(place, axis.stride), common_factor(axis));
  const int64_t inverse = inverse_of(axis);
  return inverse == 1 ? phase : rest(phase * inverse, period_of(axis));
}

// The places in data of the first kernel elements of residues, relative to the quotient of the place in the
// full result by the stride.
PrimExpr shift_of(const TransposedAxis& axis, const PrimExpr& residue) {
  if (axis.dilation == 1) return make_const_int(residue->dtype, 0);
  return divided(residue * axis.dilation, axis.stride);
}

// What is left of an extent of the result besides (extent of data - 1) * stride.
int64_t surplus_of(const TransposedAxis& axis) {
  return (axis.window - 1) * axis.dilation + 1 - axis.before - axis.after + axis.output_padding;
}

// True if there is one convolution of all phases, whose result has the phases in order.
bool is_whole(const std::vector<TransposedAxis>& axes) {
  return std::all_of(axes.begin(), axes.end(), [](const TransposedAxis& axis) {
    return common_factor(axis) == 1 && residues_of(axis).size() == 1;
  });
}

// Where one of the sums reads along an axis: quotients begin .. begin + (extent of data) + more - 1, for each
// of `count` phases or residues the place of the first element relative to the quotient.
struct AxisSums {
  int64_t begin = 0, more = 0, count = 1, taps = 1;
  std::function<PrimExpr(const PrimExpr& phase)> shift;
  int64_t least_shift = 0, most_shift = 0;
};

// Quotients of y by the stride, phases of y.
AxisSums sums_of_phases(const TransposedAxis& axis) {
  AxisSums sums;
  sums.more = divided_down(surplus_of(axis) - 1, axis.stride);
  sums.count = axis.stride;
  sums.taps = residues_of(axis)[0].taps;
  sums.shift = [axis](const PrimExpr& phase) {
    const PrimExpr place = plus(phase, axis.before);
    return arith::simplify(divided(place, axis.stride) - shift_of(axis, residue_of(axis, place)));
  };
  return sums;
}

// Quotients of y + before, residues.
AxisSums sums_of_residues(const TransposedAxis& axis, const Residues& residues) {
  AxisSums sums;
  sums.begin = divided_down(axis.before, axis.stride);
  sums.more = divided_down(surplus_of(axis) - 1 + axis.before, axis.stride) - sums.begin;
  sums.count = residues.count;
  sums.taps = residues.taps;
  sums.shift = [axis, residues](const PrimExpr& residue) {
    const PrimExpr zero = make_const_int(residue->dtype, 0);
    return arith::simplify(zero - shift_of(axis, plus(residue, residues.begin)));
  };
  return sums;
}

void add_bounds_of_shift(AxisSums& sums) {
  for (int64_t phase = 0; phase < sums.count; ++phase) {
    int64_t shift = 0;
    as_const_int(sums.shift(imm(phase, kInt64)), &shift);
    sums.least_shift = phase == 0 ? shift : std::min(sums.least_shift, shift);
    sums.most_shift = phase == 0 ? shift : std::max(sums.most_shift, shift);
  }
}

// Data with zeros where the sums read beyond it; `before` becomes their number at the begin of each axis.
Tensor with_zeros(const Tensor& data, const std::vector<TransposedAxis>& axes,
                  const std::vector<AxisSums>& sums, std::vector<int64_t>* before) {
  std::vector<int64_t> front(data.ndim()), back(data.ndim());
  for (size_t n = 0; n < axes.size(); ++n) {
    const int64_t reach = (sums[n].taps - 1) * step_of(axes[n]);
    front[n + 1] = std::max<int64_t>(0, reach - sums[n].begin - sums[n].least_shift);
    back[n + 1] = std::max<int64_t>(0, sums[n].begin + sums[n].more + sums[n].most_shift);
  }
  *before = {front.begin() + 1, front.end() - 1};
  const auto is_none = [](int64_t count) { return count == 0; };
  if (std::all_of(front.begin(), front.end(), is_none) && std::all_of(back.begin(), back.end(), is_none))
    return data;
  return pad(data, front, back, make_const_int(data.dtype(), 0), "pad_temp");
}

// [n, quotient, phase, ..., o], or [..., group, o] where vectors of channels would cross groups.
Tensor phase_sums(const Tensor& data, const Tensor& weight, const std::vector<TransposedAxis>& axes,
                  std::vector<AxisSums> sums, int64_t groups, DataType dtype, bool is_by_group) {
  for (AxisSums& each : sums) add_bounds_of_shift(each);
  std::vector<int64_t> before;
  const Tensor source = with_zeros(data, axes, sums, &before);
  const size_t count = axes.size();
  const PrimExpr inputs = weight.shape()[2 * count], outputs = weight.shape().back(),
                 group_outputs = arith::simplify(floordiv(outputs, groups));
  Shape shape{data.shape()[0]};
  for (size_t n = 0; n < count; ++n) {
    shape.push_back(plus(data.shape()[n + 1], sums[n].more));
    shape.push_back(make_const_int(data.shape()[n + 1]->dtype, sums[n].count));
  }
  if (is_by_group) shape.push_back(make_const_int(outputs->dtype, groups));
  shape.push_back(is_by_group ? group_outputs : outputs);
  std::vector<IterVar> reduced;
  const auto axis_or_zero = [&](const PrimExpr& extent, const std::string& name) -> PrimExpr {
    if (is_one(extent)) return make_const_int(extent->dtype, 0);
    reduced.push_back(te::reduce_axis(extent, name));
    return reduced.back()->var;
  };
  const PrimExpr input = axis_or_zero(inputs, "rc");
  std::vector<PrimExpr> taps;
  for (size_t n = 0; n < count; ++n)
    taps.push_back(axis_or_zero(weight.shape()[count + n], fmt::format("r{}", n)));
  const auto body = [&](const std::vector<Var>& i) -> PrimExpr {
    std::vector<PrimExpr> at_data{i[0]}, at_weight;
    for (size_t n = 0; n < count; ++n) {
      const PrimExpr phase = i[2 * n + 2];
      const PrimExpr place = PrimExpr(i[2 * n + 1]) + sums[n].shift(phase) - taps[n] * step_of(axes[n]);
      at_data.push_back(plus(place, sums[n].begin + before[n]));
      at_weight.push_back(sums[n].count == 1 ? make_const_int(phase->dtype, 0) : phase);
    }
    at_weight.insert(at_weight.end(), taps.begin(), taps.end());
    PrimExpr channel = i.back(), group = i[i.size() - 2];
    if (is_by_group)
      channel = group * group_outputs + channel;
    else if (groups > 1)
      group = floordiv(channel, group_outputs);
    at_data.push_back(groups == 1 ? input : arith::simplify(group * inputs + input));
    at_weight.push_back(input);
    at_weight.push_back(channel);
    const PrimExpr term = tir::cast(dtype, source.at(at_data)) * tir::cast(dtype, weight.at(at_weight));
    return reduced.empty() ? term : te::sum(term, reduced);
  };
  return te::compute(shape, body, {.name = fmt::format("conv{}d_transpose", count)});
}

// The element of sums [n, quotient, phase, ..., o] or [..., group, o] at quotients and phases.
PrimExpr element(const Tensor& sums, const PrimExpr& first, const std::vector<PrimExpr>& places,
                 const PrimExpr& channel, bool is_by_group) {
  std::vector<PrimExpr> at{first};
  at.insert(at.end(), places.begin(), places.end());
  if (is_by_group) at.push_back(floordiv(channel, sums.shape().back()));
  at.push_back(is_by_group ? floormod(channel, sums.shape().back()) : channel);
  return sums.at(at);
}

// All phases of all axes in one convolution.
Tensor by_phases(const Tensor& data, const Tensor& weight, const std::vector<TransposedAxis>& axes,
                 const Shape& shape, int64_t groups, DataType dtype, bool is_by_group) {
  std::vector<AxisSums> how;
  for (const TransposedAxis& axis : axes) how.push_back(sums_of_phases(axis));
  const Tensor sums = phase_sums(data, weight, axes, how, groups, dtype, is_by_group);
  const auto body = [&](const std::vector<Var>& i) {
    std::vector<PrimExpr> places;
    for (size_t n = 0; n < axes.size(); ++n) {
      places.push_back(divided(i[n + 1], axes[n].stride));
      places.push_back(rest(i[n + 1], axes[n].stride));
    }
    return element(sums, i[0], places, i.back(), is_by_group);
  };
  return te::compute(shape, body, {.name = "interleaved"});
}

// A convolution for each number of kernel elements that residues have.
Tensor by_residues(const Tensor& data, const std::vector<Tensor>& weights,
                   const std::vector<TransposedAxis>& axes, const Shape& shape, int64_t groups,
                   DataType dtype, bool is_by_group) {
  const std::vector<std::vector<size_t>> parts = parts_of(axes);
  std::vector<Tensor> sums;
  for (size_t n = 0; n < parts.size(); ++n) {
    std::vector<AxisSums> how;
    for (size_t axis = 0; axis < axes.size(); ++axis)
      how.push_back(sums_of_residues(axes[axis], residues_of(axes[axis])[parts[n][axis]]));
    sums.push_back(phase_sums(data, weights[n], axes, how, groups, dtype, is_by_group));
  }
  const auto body = [&](const std::vector<Var>& i) {
    PrimExpr value = make_const(dtype, 0);
    for (size_t n = parts.size(); n-- > 0;) {
      PrimExpr is_here = bool_imm(true);
      std::vector<PrimExpr> places;
      for (size_t axis = 0; axis < axes.size(); ++axis) {
        const std::vector<Residues> all = residues_of(axes[axis]);
        const Residues& residues = all[parts[n][axis]];
        const PrimExpr place = plus(i[axis + 1], axes[axis].before), residue = residue_of(axes[axis], place);
        if (const int64_t factor = common_factor(axes[axis]); factor > 1)
          is_here = logical_and(is_here, equal(rest(place, factor), make_const_int(place->dtype, 0)));
        if (residues.begin > 0)
          is_here = logical_and(is_here, make_const_int(place->dtype, residues.begin) <= residue);
        if (residues.begin + residues.count < period_of(axes[axis]))
          is_here =
              logical_and(is_here, residue < make_const_int(place->dtype, residues.begin + residues.count));
        const int64_t begin = divided_down(axes[axis].before, axes[axis].stride);
        places.push_back(plus(divided(place, axes[axis].stride), -begin));
        places.push_back(plus(residue, -residues.begin));
      }
      const PrimExpr found = element(sums[n], i[0], places, i.back(), is_by_group);
      value = is_one(is_here) ? found : call(dtype, "if_then_else", {is_here, found, value});
    }
    return value;
  };
  return te::compute(shape, body, {.name = "interleaved"});
}

}  // namespace

std::vector<Residues> residues_of(const TransposedAxis& axis) {
  const int64_t period = period_of(axis), more = axis.window % period, taps = axis.window / period;
  std::vector<Residues> result;
  if (more > 0) result.push_back({0, more, taps + 1});
  result.push_back({more, period - more, taps});
  return result;
}

std::vector<std::vector<size_t>> parts_of(const std::vector<TransposedAxis>& axes) {
  std::vector<std::vector<size_t>> parts{{}};
  for (const TransposedAxis& axis : axes) {
    const std::vector<Residues> residues = residues_of(axis);
    std::vector<std::vector<size_t>> more;
    for (const std::vector<size_t>& part : parts) {
      for (size_t n = 0; n < residues.size(); ++n) {
        if (residues[n].taps == 0) continue;
        more.push_back(part);
        more.back().push_back(n);
      }
    }
    parts = std::move(more);
  }
  return parts;
}

int64_t kernel_index(const std::vector<TransposedAxis>& axes, size_t axis, const Residues& residues,
                     int64_t place, int64_t tap) {
  const TransposedAxis& how = axes[axis];
  int64_t residue = residues.begin + place;
  if (is_whole(axes)) as_const_int(residue_of(how, imm(place + how.before, kInt64)), &residue);
  return residue + tap * period_of(how);
}

Tensor phase_weight(const Tensor& weight, const std::string& kernel_layout,
                    const std::vector<TransposedAxis>& axes, int64_t groups,
                    const std::vector<size_t>& part) {
  const size_t count = axes.size(), in = kernel_layout.find('I'), out = kernel_layout.find('O');
  const PrimExpr group_inputs = arith::simplify(floordiv(weight.shape()[in], groups)),
                 group_outputs = weight.shape()[out];
  const DataType dtype = group_inputs->dtype;
  const bool has_phases = is_whole(axes);
  Shape shape;
  for (size_t n = 0; n < count; ++n)
    shape.push_back(make_const_int(dtype, residues_of(axes[n])[part[n]].count));
  for (size_t n = 0; n < count; ++n)
    shape.push_back(make_const_int(dtype, residues_of(axes[n])[part[n]].taps));
  shape.push_back(group_inputs);
  shape.push_back(arith::simplify(group_outputs * groups));
  const auto body = [&](const std::vector<Var>& i) {
    const PrimExpr input = i[2 * count], output = i.back();
    std::vector<PrimExpr> at(weight.ndim());
    at[in] = groups == 1 ? input : floordiv(output, group_outputs) * group_inputs + input;
    at[out] = groups == 1 ? output : floormod(output, group_outputs);
    size_t spatial = 0;
    for (size_t dim = 0; dim < at.size(); ++dim) {
      if (dim == in || dim == out) continue;
      const TransposedAxis& axis = axes[spatial];
      const PrimExpr residue = has_phases ? residue_of(axis, plus(i[spatial], axis.before))
                                          : plus(i[spatial], residues_of(axis)[part[spatial]].begin);
      at[dim] = residue + PrimExpr(i[count + spatial]) * period_of(axis);
      ++spatial;
    }
    return weight.at(at);
  };
  return te::compute(shape, body, {.name = "phase_weight"});
}

Tensor conv_transpose_by_phase(const Tensor& data, const std::vector<Tensor>& weights,
                               const std::vector<TransposedAxis>& axes, int64_t groups, DataType dtype) {
  Shape shape{data.shape()[0]};
  for (size_t n = 0; n < axes.size(); ++n)
    shape.push_back(conv_transpose_extent(data.shape()[n + 1], axes[n]));
  shape.push_back(weights[0].shape().back());
  int64_t outputs = 0, terms = 1;
  as_const_int(weights[0].shape().back(), &outputs);
  for (size_t dim = axes.size(); dim + 1 < weights[0].ndim(); ++dim) {
    int64_t extent = 1;
    as_const_int(weights[0].shape()[dim], &extent);
    terms *= extent;
  }
  const bool is_depthwise = is_one(weights[0].shape()[2 * axes.size()]),
             is_by_group = !is_depthwise && groups > 1 && are_groups_apart(outputs / groups, terms);
  const DataType of_sums = dtype_of_sums(dtype);
  const Tensor sums = is_whole(axes) ? by_phases(data, weights[0], axes, shape, groups, of_sums, is_by_group)
                                     : by_residues(data, weights, axes, shape, groups, of_sums, is_by_group);
  return rounded_to(sums, dtype);
}

PrimExpr conv_transpose_extent(const PrimExpr& extent, const TransposedAxis& axis) {
  return arith::simplify((extent - 1) * axis.stride + surplus_of(axis));
}

}  // namespace tilewright::topi
