#include "tilewright/te/topi/resize.h"

#include <cmath>
#include <numeric>

#include "tilewright/arith/analyzer.h"
#include "tilewright/support/fraction.h"
#include "tilewright/te/topi/reduce.h"

namespace tilewright::topi {
using namespace tir;
namespace {

constexpr DataType kFloat64 = DataType::float_(64);

PrimExpr integer(int64_t value) { return imm(value, kInt64); }
PrimExpr integer(const PrimExpr& value) { return arith::simplify(tir::cast(kInt64, value)); }
PrimExpr floor_of(const PrimExpr& value) { return call(value->dtype, "floor", {value}); }

// The dtype of the weights for elements of `dtype`.
DataType dtype_of_weights(DataType dtype) {
  const bool is_wide = dtype.bits > 32 || (dtype.bits == 32 && !dtype.is_float());
  return is_wide ? kFloat64 : kFloat32;
}

int64_t divided(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// ---- coordinates of elements

/// The exact coordinates of a result's elements: element i is at (a * i + b) / c in a row of `from` elements
/// of x; c is above 0.
struct Places {
  PrimExpr a, b, c, from, to;

  PrimExpr number(const PrimExpr& i) const { return a * integer(i) + b; }
  /// True if a, b and c are constants: then the coordinates of the first and the last element are, too.
  bool known(int64_t* av, int64_t* bv, int64_t* cv) const {
    return as_const_int(a, av) && as_const_int(b, bv) && as_const_int(c, cv);
  }
  PrimExpr real(const PrimExpr& i, DataType dtype) const {
    int64_t av, bv, cv;
    const PrimExpr place = tir::cast(dtype, i);
    if (known(&av, &bv, &cv)) {
      const auto whole = static_cast<double>(cv);
      return place * make_const(dtype, static_cast<double>(av) / whole) +
             make_const(dtype, static_cast<double>(bv) / whole);
    }
    const PrimExpr whole = tir::cast(dtype, c);
    return place * div(tir::cast(dtype, a), whole) + div(tir::cast(dtype, b), whole);
  }
  /// 0 <= place <= from - 1
  PrimExpr is_inside(const PrimExpr& i) const {
    return tir::logical_and(integer(0) <= number(i), number(i) <= (from - 1) * c);
  }
};

// `one` if the result has one element, else `many`.
PrimExpr by_count(const PrimExpr& to, const PrimExpr& one, const PrimExpr& many) {
  int64_t count;
  if (as_const_int(to, &count)) return count == 1 ? one : many;
  return select(tir::equal(to, integer(1)), one, many);
}

// the begin and end of a crop, as fractions with one denominator
struct Crop {
  int64_t begin, end, under;
};
Crop crop_of(double begin, double end) {
  constexpr int64_t kFinest = int64_t{1} << 20;
  const Fraction first = simplest_fraction(begin), last = simplest_fraction(end);
  const int64_t under =
      first.under > kFinest || last.under > kFinest ? kFinest + 1 : std::lcm(first.under, last.under);
  if (under <= kFinest) return {first.over * (under / first.under), last.over * (under / last.under), under};
  return {std::llround(std::ldexp(begin, 20)), std::llround(std::ldexp(end, 20)), kFinest};
}

// The coordinates along axis `n` of the options.  One step in the result is d / s in x.
Places places_of(const ResizeOptions& options, size_t n, const PrimExpr& from_extent,
                 const PrimExpr& to_extent) {
  const std::string& mode = options.coordinates;
  const PrimExpr from = integer(from_extent), to = integer(to_extent), one = integer(1);
  PrimExpr d = options.steps.empty() ? from : integer(options.steps[2 * n]);
  PrimExpr s = options.steps.empty() ? to : integer(options.steps[2 * n + 1]);
  int64_t dv, sv;
  if (as_const_int(d, &dv) && as_const_int(s, &sv) && dv > 0 && sv > 0) {
    const int64_t shared = std::gcd(dv, sv);
    d = integer(dv / shared), s = integer(sv / shared);
  }
  s = arith::simplify(tir::max(s, one));  // s is 0 for an empty result
  const PrimExpr last = from - 1, steps = tir::max(to - 1, one), none = integer(0);
  Places places{d * 2, d - s, s * 2, from, to};  // half_pixel
  if (mode == "half_pixel_symmetric") places.b = d - s + from * s - to * d;
  if (mode == "pytorch_half_pixel") places.b = by_count(to, none, d - s);
  if (mode == "tf_half_pixel_for_nn") places.b = d;
  if (mode == "align_corners") places.a = last, places.b = none, places.c = steps;
  if (mode == "asymmetric") places.a = d, places.b = none, places.c = s;
  if (mode == "tf_crop_and_resize") {
    const Crop crop = crop_of(options.roi[n], options.roi[n + options.roi.size() / 2]);
    places.a = last * (2 * (crop.end - crop.begin));
    places.b = by_count(to, last * (crop.begin + crop.end), last * steps * (2 * crop.begin));
    places.c = steps * (2 * crop.under);
  }
  for (PrimExpr* part : {&places.a, &places.b, &places.c}) *part = arith::simplify(*part);
  return places;
}

// floor(coordinate), computed in integers and within the row.
PrimExpr whole_part(const Places& places, const PrimExpr& i) {
  int64_t a, b, c, from, to;
  if (!places.known(&a, &b, &c)) {
    // a float64 quotient is rounded to an integer only if it is one: integers below 2^52 are exact
    if (!as_const_int(places.c, &c))
      return clamped(tir::cast(kInt64, floor_of(div(tir::cast(kFloat64, places.number(i)),
                                                    tir::cast(kFloat64, places.c)))),
                     places.from);
    return clamped(floordiv(places.number(i), places.c), places.from);
  }
  const int64_t shared = std::gcd(std::abs(a), c);
  const Places shorter{integer(a / shared), integer(divided(b, shared)), integer(c / shared), places.from,
                       places.to};
  const PrimExpr index = arith::simplify(floordiv(shorter.number(i), shorter.c));
  const bool is_fixed = as_const_int(places.from, &from) && as_const_int(places.to, &to) && to > 0;
  const auto lies_inside = [&](int64_t place) {
    const int64_t at = divided(a * place + b, c);
    return at >= 0 && at < from;
  };
  return is_fixed && lies_inside(0) && lies_inside(to - 1) ? index : clamped(index, places.from);
}

// The nearest element, exactly; `rounding` decides ties.
PrimExpr nearest(const Places& places, const std::string& rounding, const PrimExpr& i) {
  if (rounding == "round" || rounding.empty())
    return clamped(tir::cast(kInt64, call(kFloat32, "round", {places.real(i, kFloat32)})), places.from);
  Places rounded = places;
  if (rounding.starts_with("round"))
    rounded.a = places.a * 2, rounded.b = places.b * 2, rounded.c = places.c * 2;
  // floor(x), floor(x + 1/2), ceil(x) = floor(x + (c - 1) / c), ceil(x - 1/2)
  if (rounding == "round_prefer_ceil" || rounding == "round_prefer_floor") rounded.b = rounded.b + places.c;
  if (rounding == "ceil") rounded.b = rounded.b + places.c - 1;
  if (rounding == "round_prefer_floor") rounded.b = rounded.b - 1;
  for (PrimExpr* part : {&rounded.a, &rounded.b, &rounded.c}) *part = arith::simplify(*part);
  return whole_part(rounded, i);
}

// ---- weights of elements

// The elements along one dimension that a coordinate is interpolated from, and their weights.
struct Taps {
  std::vector<PrimExpr> indices, weights;
};

Taps taps_of(const ResizeOptions& options, const Places& places, const PrimExpr& i, DataType dtype) {
  const PrimExpr one = make_const_int(dtype, 1);
  if (options.method == "nearest_neighbor") return {{nearest(places, options.rounding, i)}, {one}};
  const PrimExpr &extent = places.from, place = places.real(i, dtype), base = floor_of(place),
                 t = place - base, first = tir::cast(kInt64, base);
  if (options.method == "linear") return {{clamped(first, extent), clamped(first + 1, extent)}, {one - t, t}};
  Taps taps{{}, cubic_weights(t, options.cubic_alpha)};
  PrimExpr total = make_const_int(dtype, 0);
  for (int64_t n = 0; n < 4; ++n) {
    const PrimExpr at = first + (n - 1);
    if (options.cubic_exclude) {  // elements outside weigh nothing, the others are scaled to sum up to 1
      PrimExpr& weight = taps.weights[static_cast<size_t>(n)];
      weight = select(tir::logical_and(integer(0) <= at, at < extent), weight, make_const_int(dtype, 0));
      total = total + weight;
    }
    taps.indices.push_back(clamped(at, extent));
  }
  if (options.cubic_exclude) {
    for (PrimExpr& weight : taps.weights) weight = div(weight, total);
  }
  return taps;
}

// `value` as an element of the result.
PrimExpr as_result(const PrimExpr& value, DataType dtype) {
  const bool is_rounded = dtype.is_integral() && value->dtype.is_float();  // as in torch: to nearest
  return tir::cast(dtype, is_rounded ? call(value->dtype, "round", {value}) : value);
}

Shape resized(const Tensor& x, const Shape& size, const std::vector<int64_t>& axes) {
  Shape shape = x.shape();
  for (size_t n = 0; n < axes.size(); ++n) shape[static_cast<size_t>(axes[n])] = size[n];
  return shape;
}

// The elements of the result: the nearest element of `x`, or the weighted sum of those around a coordinate.
class Resizing {
 public:
  /// `columns`: x resized along the last of the axes, in the dtype of weights; may be null.
  Resizing(const Tensor& x, const Shape& size, const ResizeOptions& options, const Tensor& columns,
           const std::vector<Var>& i)
      : x_(x),
        options_(options),
        columns_(columns),
        dtype_(dtype_of_weights(x.dtype())),
        at_(i.begin(), i.end()) {
    for (size_t n = 0; n < options.axes.size(); ++n) {
      const auto axis = static_cast<size_t>(options.axes[n]);
      const Places places = places_of(options, n, x.shape()[axis], size[n]);
      taps_.push_back(taps_of(options, places, i[axis], dtype_));
      inside_ = tir::logical_and(inside_, places.is_inside(i[axis]));
    }
  }

  PrimExpr value() {
    PrimExpr result = sum_from(0);
    if (options_.coordinates != "tf_crop_and_resize") return result;
    return select(inside_, result, make_const(result->dtype, options_.extrapolation_value));
  }

 private:
  // the weighted sum over the axes from `n` on; the indices of the axes before are in at_
  PrimExpr sum_from(size_t n) {
    const bool is_nearest = options_.method == "nearest_neighbor";
    if (columns_ && n + 1 == options_.axes.size()) return columns_.at(at_);
    if (n == options_.axes.size()) return is_nearest ? x_.at(at_) : tir::cast(dtype_, x_.at(at_));
    const Taps& taps = taps_[n];
    PrimExpr result;
    for (size_t tap = 0; tap < taps.indices.size(); ++tap) {
      at_[static_cast<size_t>(options_.axes[n])] = taps.indices[tap];
      PrimExpr part = sum_from(n + 1);
      if (!is_nearest) part = part * taps.weights[tap];
      result = result ? result + part : part;
    }
    return result;
  }

  const Tensor& x_;
  const ResizeOptions& options_;
  const Tensor& columns_;
  const DataType dtype_;
  std::vector<PrimExpr> at_;
  std::vector<Taps> taps_;
  PrimExpr inside_ = bool_imm(true);
};

// True if elements are interpolated along the last dimension of x after others, whose extents do not become far
// smaller: then rows of x that several rows of the result are made of need it once.
bool has_columns(const Tensor& x, const Shape& size, const ResizeOptions& options) {
  const std::vector<int64_t>& axes = options.axes;
  if (options.method == "nearest_neighbor" || axes.size() < 2 ||
      axes.back() + 1 != static_cast<int64_t>(x.ndim()))
    return false;
  double grown = 1;
  for (size_t n = 0; n + 1 < axes.size(); ++n) {
    int64_t from, to;
    if (as_const_int(x.shape()[static_cast<size_t>(axes[n])], &from) && as_const_int(size[n], &to) &&
        from > 0)
      grown *= static_cast<double>(to) / static_cast<double>(from);
  }
  const double num_taps = options.method == "linear" ? 2 : 4;  // that are combined to a row
  return grown * num_taps >= 1;
}

// x interpolated along the last of the axes.  Which elements count, and how much, is known once for all rows.
Tensor columns_of(const Tensor& x, const Shape& size, const ResizeOptions& options) {
  const DataType dtype = dtype_of_weights(x.dtype());
  const size_t last = options.axes.size() - 1, axis = x.ndim() - 1;
  const Places places = places_of(options, last, x.shape()[axis], size[last]);
  const int64_t count = options.method == "linear" ? 2 : 4;
  const auto table = [&](const char* name, std::vector<PrimExpr> Taps::* part) {
    return te::compute({size[last], integer(count)},
                       [&](const std::vector<Var>& i) {
                         const Taps taps = taps_of(options, places, i[0], dtype);
                         PrimExpr value = (taps.*part).back();
                         for (size_t n = (taps.*part).size() - 1; n-- > 0;)
                           value = select(tir::equal(i[1], integer(static_cast<int64_t>(n))), (taps.*part)[n],
                                          value);
                         return value;
                       },
                       {.name = name});
  };
  const Tensor indices = table("T_places", &Taps::indices), weights = table("T_weights", &Taps::weights);
  Shape shape = x.shape();
  shape[axis] = size[last];
  return te::compute(shape,
                     [&](const std::vector<Var>& i) {
                       std::vector<PrimExpr> at(i.begin(), i.end());
                       PrimExpr sum;
                       for (int64_t n = 0; n < count; ++n) {
                         at[axis] = indices.at({i[axis], integer(n)});
                         const PrimExpr term = tir::cast(dtype, x.at(at)) * weights.at({i[axis], integer(n)});
                         sum = sum ? sum + term : term;
                       }
                       return sum;
                     },
                     {.name = "T_columns"});
}

// ---- wider windows (antialias)

// The weight of an element at `distance` from a coordinate.
PrimExpr window_weight(const ResizeOptions& options, const PrimExpr& distance) {
  const auto real = [&](double value) { return make_const(distance->dtype, value); };
  const PrimExpr d = call(distance->dtype, "abs", {distance});
  if (options.method == "linear") return tir::max(real(1) - d, real(0));
  const double a = options.cubic_alpha;
  const PrimExpr near = (d * real(a + 2) - real(a + 3)) * d * d + real(1),
                 far = ((d * real(a) - real(5 * a)) * d + real(8 * a)) * d - real(4 * a);
  return select(d < real(1), near, select(d < real(2), far, real(0)));
}

}  // namespace

PrimExpr clamped(const PrimExpr& index, const PrimExpr& extent) {
  return tir::min(tir::max(index, make_const_int(index->dtype, 0)), extent - 1);
}

std::vector<PrimExpr> cubic_weights(const PrimExpr& t, double a) {
  const auto real = [&](double value) { return make_const(t->dtype, value); };
  auto near = [&](const PrimExpr& d) { return (d * real(a + 2) - real(a + 3)) * d * d + real(1); };
  auto far = [&](const PrimExpr& d) {
    return ((d * real(a) - real(5 * a)) * d + real(8 * a)) * d - real(4 * a);
  };
  const PrimExpr s = real(1) - t;
  return {far(t + real(1)), near(t), near(s), far(s + real(1))};
}

Tensor resize(const Tensor& x, const Shape& size, const ResizeOptions& options, DataType out_dtype) {
  const Tensor columns = has_columns(x, size, options) ? columns_of(x, size, options) : Tensor();
  return te::compute(resized(x, size, options.axes),
                     [&](const std::vector<Var>& i) {
                       return as_result(Resizing(x, size, options, columns, i).value(), out_dtype);
                     },
                     {.name = "T_resize"});
}

Tensor resize_antialias(const Tensor& x, const Shape& size, const ResizeOptions& options,
                        DataType out_dtype) {
  const auto axis = static_cast<size_t>(options.axes[0]);
  const DataType dtype = dtype_of_weights(x.dtype());
  const Places places = places_of(options, 0, x.shape()[axis], size[0]);
  const PrimExpr one = integer(1), from = places.from;
  const PrimExpr d = options.steps.empty() ? from : integer(options.steps[0]);
  const PrimExpr s = tir::max(options.steps.empty() ? places.to : integer(options.steps[1]), one);
  // the factor by which distances of elements are narrower than the window's, at most 1
  const PrimExpr narrowed =
      tir::min(div(tir::cast(dtype, s), tir::cast(dtype, tir::max(d, one))), make_const_int(dtype, 1));
  const int64_t radius = options.method == "linear" ? 1 : 2;
  // the number of elements that count on either side of a coordinate
  const PrimExpr reach = arith::simplify(tir::max(floordiv(d * radius + s - 1, s), integer(radius)));
  const PrimExpr count = arith::simplify(reach * 2);
  const auto first = [&](const PrimExpr& i) {
    return tir::cast(kInt64, floor_of(places.real(i, dtype))) - reach + 1;
  };
  const Tensor weights = te::compute(
      {size[0], count},
      [&](const std::vector<Var>& i) {
        const PrimExpr at = first(i[0]) + PrimExpr(i[1]);
        const PrimExpr weight =
            window_weight(options, (tir::cast(dtype, at) - places.real(i[0], dtype)) * narrowed);
        if (!options.cubic_exclude) return weight;
        return select(tir::logical_and(integer(0) <= at, at < from), weight, make_const_int(dtype, 0));
      },
      {.name = "T_weights"});
  const Tensor total = sum(weights, {1});
  const IterVar k = te::reduce_axis(count, "k");
  const Shape shape = resized(x, size, options.axes);
  const Tensor sums =
      te::compute(shape,
                  [&](const std::vector<Var>& i) {
                    std::vector<PrimExpr> at(i.begin(), i.end());
                    at[axis] = clamped(first(i[axis]) + PrimExpr(k->var), from);
                    return te::sum(tir::cast(dtype, x.at(at)) * weights.at({i[axis], k->var}), {k});
                  },
                  {.name = "T_sums"});
  return te::compute(shape,
                     [&](const std::vector<Var>& i) {
                       PrimExpr value = div(sums.at({i.begin(), i.end()}), total.at({i[axis]}));
                       if (options.coordinates == "tf_crop_and_resize")
                         value = select(places.is_inside(i[axis]), value,
                                        make_const(dtype, options.extrapolation_value));
                       return as_result(value, out_dtype);
                     },
                     {.name = "T_resize"});
}

}  // namespace tilewright::topi
