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

AxisSums with_bounds(AxisSums sums) {
  for (int64_t phase = 0; phase < sums.count; ++phase) {
    int64_t shift = 0;
    as_const_int(sums.shift(imm(phase, kInt64)), &shift);
    sums.least_shift = phase == 0 ? shift : std::min(sums.least_shift, shift);
    sums.most_shift = phase == 0 ? shift : std::max(sums.most_shift, shift);
  }
  if (sums.least_shift != sums.most_shift) return sums;
  sums.shift = [shift = sums.least_shift](const PrimExpr& phase) {
    return make_const_int(phase->dtype, shift);
  };
  return sums;
}

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
  return with_bounds(std::move(sums));
}

// The quotients begin .. begin + (extent of data) + more - 1 of y + before by the stride, for which some of
// `residues` have results; all quotients, if a result may be too short to have all phases.
struct Quotients {
  int64_t begin = 0, more = 0;
};
Quotients quotients_of(const TransposedAxis& axis, const Residues& residues) {
  const int64_t last_place = axis.before + surplus_of(axis) - 1;
  const bool is_short = surplus_of(axis) < axis.stride;
  int64_t begin = divided_down(axis.before, axis.stride), last = divided_down(last_place, axis.stride);
  for (int64_t n = 0; n < residues.count && !is_short; ++n) {
    const int64_t phase = (residues.begin + n) * axis.dilation % axis.stride,
                  first = divided_down(axis.before - phase + axis.stride - 1, axis.stride),
                  end = divided_down(last_place - phase, axis.stride);
    begin = n == 0 ? first : std::min(begin, first);
    last = n == 0 ? end : std::max(last, end);
  }
  return {begin, last - begin};
}

// Quotients of y + before, residues.
AxisSums sums_of_residues(const TransposedAxis& axis, const Residues& residues) {
  AxisSums sums;
  const Quotients quotients = quotients_of(axis, residues);
  sums.begin = quotients.begin;
  sums.more = quotients.more;
  sums.count = residues.count;
  sums.taps = residues.taps;
  sums.shift = [axis, residues](const PrimExpr& residue) {
    const PrimExpr zero = make_const_int(residue->dtype, 0);
    return arith::simplify(zero - shift_of(axis, plus(residue, residues.begin)));
  };
  return with_bounds(std::move(sums));
}

// Data with zeros where one of the sums reads beyond it.
struct Source {
  Tensor data;
  std::vector<int64_t> before;  // the number of zeros at the begin of each axis
};

// Where the first spatial dimension is.
size_t first_axis(const TransposedSums& how) { return how.is_channel_first ? 2 : 1; }

Source with_zeros(const Tensor& data, const TransposedSums& how,
                  const std::vector<std::vector<AxisSums>>& all) {
  std::vector<int64_t> front(data.ndim()), back(data.ndim());
  const auto begin = static_cast<std::ptrdiff_t>(first_axis(how));
  for (const std::vector<AxisSums>& sums : all) {
    for (size_t n = 0; n < how.axes.size(); ++n) {
      const int64_t reach = (sums[n].taps - 1) * step_of(how.axes[n]);
      int64_t &before = front[n + first_axis(how)], &after = back[n + first_axis(how)];
      before = std::max(before, reach - sums[n].begin - sums[n].least_shift);
      after = std::max(after, sums[n].begin + sums[n].more + sums[n].most_shift);
    }
  }
  const std::vector<int64_t> before(front.begin() + begin,
                                    front.begin() + begin + static_cast<std::ptrdiff_t>(how.axes.size()));
  const auto is_none = [](int64_t count) { return count == 0; };
  if (std::all_of(front.begin(), front.end(), is_none) && std::all_of(back.begin(), back.end(), is_none))
    return {data, before};
  return {pad(data, front, back, make_const_int(data.dtype(), 0), "pad_temp"), before};
}

// [n, quotient, phase, ..., o], or [..., group, o] where vectors of channels would cross groups.
Tensor phase_sums(const Tensor& data, const Source& source, const Tensor& weight, const TransposedSums& how,
                  const std::vector<AxisSums>& sums, bool is_by_group) {
  const size_t count = how.axes.size(), first = first_axis(how);
  const int64_t groups = how.groups;
  const DataType dtype = dtype_of_sums(how.dtype);
  const PrimExpr inputs = weight.shape()[2 * count], outputs = weight.shape().back(),
                 group_outputs = arith::simplify(floordiv(outputs, groups));
  Shape shape{data.shape()[0]};
  for (size_t n = 0; n < count; ++n) {
    shape.push_back(plus(data.shape()[n + first], sums[n].more));
    shape.push_back(make_const_int(data.shape()[n + first]->dtype, sums[n].count));
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
      const PrimExpr place = PrimExpr(i[2 * n + 1]) + sums[n].shift(phase) - taps[n] * step_of(how.axes[n]);
      at_data.push_back(plus(place, sums[n].begin + source.before[n]));
      at_weight.push_back(sums[n].count == 1 ? make_const_int(phase->dtype, 0) : phase);
    }
    at_weight.insert(at_weight.end(), taps.begin(), taps.end());
    PrimExpr channel = i.back(), group = i[i.size() - 2];
    if (is_by_group)
      channel = group * group_outputs + channel;
    else if (groups > 1)
      group = floordiv(channel, group_outputs);
    at_data.insert(how.is_channel_first ? at_data.begin() + 1 : at_data.end(),
                   groups == 1 ? input : arith::simplify(group * inputs + input));
    at_weight.push_back(input);
    at_weight.push_back(channel);
    const PrimExpr term = tir::cast(dtype, source.data.at(at_data)) * tir::cast(dtype, weight.at(at_weight));
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
Tensor by_phases(const Tensor& data, const Tensor& weight, const TransposedSums& how, const Shape& shape,
                 bool is_by_group) {
  std::vector<AxisSums> where;
  for (const TransposedAxis& axis : how.axes) where.push_back(sums_of_phases(axis));
  const Source source = with_zeros(data, how, {where});
  const Tensor sums = phase_sums(data, source, weight, how, where, is_by_group);
  const auto body = [&](const std::vector<Var>& i) {
    std::vector<PrimExpr> places;
    for (size_t n = 0; n < how.axes.size(); ++n) {
      places.push_back(divided(i[n + 1], how.axes[n].stride));
      places.push_back(rest(i[n + 1], how.axes[n].stride));
    }
    return element(sums, i[0], places, i.back(), is_by_group);
  };
  return te::compute(shape, body, {.name = "interleaved"});
}

// Where element `index` of the result is in the sums of `residues` along `axis`: quotient and residue, and
// the condition that it is there.
struct PlaceOfResidue {
  PrimExpr quotient, residue, is_here = bool_imm(true);
};
PlaceOfResidue place_of(const TransposedAxis& axis, const Residues& residues, const PrimExpr& index) {
  const PrimExpr place = plus(index, axis.before), residue = residue_of(axis, place);
  PlaceOfResidue result{plus(divided(place, axis.stride), -quotients_of(axis, residues).begin),
                        plus(residue, -residues.begin)};
  const auto number = [&](int64_t value) { return make_const_int(place->dtype, value); };
  if (const int64_t factor = common_factor(axis); factor > 1)
    result.is_here = logical_and(result.is_here, equal(rest(place, factor), number(0)));
  if (residues.begin > 0) result.is_here = logical_and(result.is_here, number(residues.begin) <= residue);
  if (residues.begin + residues.count < period_of(axis))
    result.is_here = logical_and(result.is_here, residue < number(residues.begin + residues.count));
  return result;
}

// A convolution for each number of kernel elements that residues have.
Tensor by_residues(const Tensor& data, const std::vector<Tensor>& weights, const TransposedSums& how,
                   const Shape& shape, bool is_by_group) {
  const std::vector<std::vector<size_t>> parts = parts_of(how.axes);
  std::vector<std::vector<AxisSums>> where(parts.size());
  for (size_t n = 0; n < parts.size(); ++n) {
    for (size_t axis = 0; axis < how.axes.size(); ++axis)
      where[n].push_back(sums_of_residues(how.axes[axis], residues_of(how.axes[axis])[parts[n][axis]]));
  }
  const Source source = with_zeros(data, how, where);
  std::vector<Tensor> sums;
  for (size_t n = 0; n < parts.size(); ++n)
    sums.push_back(phase_sums(data, source, weights[n], how, where[n], is_by_group));
  const auto body = [&](const std::vector<Var>& i) {
    PrimExpr value = make_const(sums[0].dtype(), 0);
    for (size_t n = parts.size(); n-- > 0;) {
      PrimExpr is_here = bool_imm(true);
      std::vector<PrimExpr> places;
      for (size_t axis = 0; axis < how.axes.size(); ++axis) {
        const PlaceOfResidue place =
            place_of(how.axes[axis], residues_of(how.axes[axis])[parts[n][axis]], i[axis + 1]);
        is_here = logical_and(is_here, place.is_here);
        places.insert(places.end(), {place.quotient, place.residue});
      }
      const PrimExpr found = element(sums[n], i[0], places, i.back(), is_by_group);
      value = is_one(is_here) ? found : call(found->dtype, "if_then_else", {is_here, found, value});
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
                               const TransposedSums& how) {
  const size_t count = how.axes.size();
  const Shape& weight = weights[0].shape();
  Shape shape{data.shape()[0]};
  for (size_t n = 0; n < count; ++n)
    shape.push_back(conv_transpose_extent(data.shape()[n + first_axis(how)], how.axes[n]));
  shape.push_back(weight.back());
  int64_t outputs = 0, terms = 1, extent = 1;
  as_const_int(weight.back(), &outputs);
  for (size_t dim = count; dim + 1 < weight.size(); ++dim) {
    if (as_const_int(weight[dim], &extent)) terms *= extent;
  }
  const bool is_depthwise = is_one(weight[2 * count]),
             is_by_group = !is_depthwise && how.groups > 1 && are_groups_apart(outputs / how.groups, terms);
  const Tensor sums = is_whole(how.axes) ? by_phases(data, weights[0], how, shape, is_by_group)
                                         : by_residues(data, weights, how, shape, is_by_group);
  return rounded_to(sums, how.dtype);
}

Tensor interleave_phases(const Tensor& data, const std::vector<int64_t>& before,
                         const std::vector<int64_t>& strides, const Shape& extents) {
  int64_t phases = 1;
  for (int64_t stride : strides) phases *= stride;
  Shape shape{data.shape()[0], arith::simplify(floordiv(data.shape()[1], phases))};
  shape.insert(shape.end(), extents.begin(), extents.end());
  const auto body = [&](const std::vector<Var>& i) {
    PrimExpr channel = i[1];
    std::vector<PrimExpr> at{i[0], channel};
    for (size_t n = 0; n < strides.size(); ++n) {
      const PrimExpr place = plus(i[n + 2], before[n]);
      channel = channel * strides[n] + rest(place, strides[n]);
      at.push_back(divided(place, strides[n]));
    }
    at[1] = arith::simplify(channel);
    return data.at(at);
  };
  return te::compute(shape, body, {.name = "interleaved"});
}

PrimExpr conv_transpose_extent(const PrimExpr& extent, const TransposedAxis& axis) {
  return arith::simplify((extent - 1) * axis.stride + surplus_of(axis));
}

}  // namespace tilewright::topi
