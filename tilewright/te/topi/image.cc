#include "tilewright/te/topi/image.h"

#include "tilewright/te/topi/conv.h"
#include "tilewright/te/topi/pool.h"

namespace tilewright::topi {
using namespace tir;
namespace {

// Places are computed in float32, as the frameworks do.
PrimExpr real(double value) { return make_const(kFloat32, value); }
PrimExpr real(const PrimExpr& value) { return tir::cast(kFloat32, value); }
PrimExpr floor_of(const PrimExpr& value) { return call(kFloat32, "floor", {value}); }
PrimExpr absolute(const PrimExpr& value) { return call(kFloat32, "abs", {value}); }

PrimExpr clamped(const PrimExpr& index, const PrimExpr& extent) {
  return tir::min(tir::max(index, make_const_int(index->dtype, 0)), extent - 1);
}

// Where element `i` of a result of extent `to` lies in a picture of extent `from`.
PrimExpr source_place(const ResizeOptions& options, size_t dim, const PrimExpr& i, const PrimExpr& from,
                      const PrimExpr& to) {
  const std::string& mode = options.coordinates;
  const PrimExpr place = real(i), ratio = div(real(from), real(to));
  const PrimExpr is_one_wide = tir::equal(to, make_const_int(to->dtype, 1));
  if (mode == "half_pixel" || mode == "half_pixel_symmetric") return (place + real(0.5)) * ratio - real(0.5);
  if (mode == "pytorch_half_pixel")
    return select(is_one_wide, real(0.0), (place + real(0.5)) * ratio - real(0.5));
  if (mode == "tf_half_pixel_for_nn") return (place + real(0.5)) * ratio;
  const PrimExpr steps = real(tir::max(to - 1, make_const_int(to->dtype, 1)));
  if (mode == "align_corners") return place * div(real(from - 1), steps);
  if (mode == "tf_crop_and_resize") {
    const double begin = options.roi[dim], end = options.roi[dim + options.roi.size() / 2];
    const PrimExpr span = real(from - 1);
    return select(is_one_wide, span * real(0.5 * (begin + end)),
                  span * real(begin) + place * div(span * real(end - begin), steps));
  }
  return place * ratio;  // asymmetric
}

PrimExpr rounded(const std::string& rounding, const PrimExpr& place) {
  if (rounding == "floor") return floor_of(place);
  if (rounding == "ceil") return call(kFloat32, "ceil", {place});
  if (rounding == "round_prefer_floor") return call(kFloat32, "ceil", {place - real(0.5)});
  if (rounding == "round_prefer_ceil") return floor_of(place + real(0.5));
  return call(kFloat32, "round", {place});
}

// Keys' cubic at distance `t` from the element before: the weights of the 4 elements around.
std::vector<PrimExpr> cubic_weights(const PrimExpr& t, double a) {
  auto near = [&](const PrimExpr& d) { return (d * real(a + 2) - real(a + 3)) * d * d + real(1.0); };
  auto far = [&](const PrimExpr& d) {
    return ((d * real(a) - real(5 * a)) * d + real(8 * a)) * d - real(4 * a);
  };
  const PrimExpr s = real(1.0) - t;
  return {far(t + real(1.0)), near(t), near(s), far(s + real(1.0))};
}

// The elements of one dimension that count for a place, and their weights.
struct Taps {
  std::vector<PrimExpr> indices, weights;
};

Taps taps_of(const ResizeOptions& options, const PrimExpr& place, const PrimExpr& extent) {
  auto index = [&](const PrimExpr& value) { return tir::cast(extent->dtype, value); };
  if (options.method == "nearest_neighbor")
    return {{clamped(index(rounded(options.rounding, place)), extent)}, {real(1.0)}};
  const PrimExpr base = floor_of(place), t = place - base, first = index(base);
  if (options.method == "linear")
    return {{clamped(first, extent), clamped(first + 1, extent)}, {real(1.0) - t, t}};
  Taps taps{{}, cubic_weights(t, options.cubic_alpha)};
  PrimExpr total = real(0.0);
  for (int64_t n = 0; n < 4; ++n) {
    const PrimExpr at = first + (n - 1);
    if (options.cubic_exclude) {  // what lies outside has no weight, the others share it
      const PrimExpr inside = tir::logical_and(make_const_int(at->dtype, 0) <= at, at < extent);
      taps.weights[static_cast<size_t>(n)] = select(inside, taps.weights[static_cast<size_t>(n)], real(0.0));
      total = total + taps.weights[static_cast<size_t>(n)];
    }
    taps.indices.push_back(clamped(at, extent));
  }
  if (options.cubic_exclude) {
    for (PrimExpr& weight : taps.weights) weight = div(weight, total);
  }
  return taps;
}

}  // namespace

namespace {

// The element of `x` that stands for element `i` of the result, or the weighted sum of those around its
// place.
class Resizing {
 public:
  Resizing(const Tensor& x, const Shape& size, const ResizeOptions& options, const std::vector<Var>& i)
      : x_(x), options_(options), spatial_(spatial_dims(options.layout)), at_(i.begin(), i.end()) {
    for (size_t n = 0; n < spatial_.size(); ++n) {
      const PrimExpr& extent = x.shape()[spatial_[n]];
      places_.push_back(source_place(options, n, i[spatial_[n]], extent, size[n]));
      taps_.push_back(taps_of(options, places_[n], extent));
    }
  }

  PrimExpr value() {
    PrimExpr result = sum_from(0);
    if (options_.coordinates != "tf_crop_and_resize") return result;
    PrimExpr inside = bool_imm(true);
    for (size_t n = 0; n < spatial_.size(); ++n)
      inside = tir::logical_and(
          inside, tir::logical_and(real(0.0) <= places_[n], places_[n] <= real(x_.shape()[spatial_[n]] - 1)));
    return select(inside, result, make_const(result->dtype, options_.extrapolation_value));
  }

 private:
  // the weighted sum over the spatial dimensions from `dim` on; earlier ones stand in at_
  PrimExpr sum_from(size_t dim) {
    const bool is_nearest = options_.method == "nearest_neighbor";
    if (dim == spatial_.size()) return is_nearest ? x_.at(at_) : real(x_.at(at_));
    const Taps& taps = taps_[dim];
    PrimExpr result;
    for (size_t n = 0; n < taps.indices.size(); ++n) {
      at_[spatial_[dim]] = taps.indices[n];
      PrimExpr part = sum_from(dim + 1);
      if (!is_nearest) part = part * taps.weights[n];
      result = result ? result + part : part;
    }
    return result;
  }

  const Tensor& x_;
  const ResizeOptions& options_;
  const std::vector<size_t> spatial_;
  std::vector<PrimExpr> at_, places_;
  std::vector<Taps> taps_;
};

}  // namespace

Tensor resize(const Tensor& x, const Shape& size, const ResizeOptions& options, DataType out_dtype) {
  const std::vector<size_t> spatial = spatial_dims(options.layout);
  Shape shape = x.shape();
  for (size_t n = 0; n < spatial.size(); ++n) shape[spatial[n]] = size[n];
  return te::compute(shape,
                     [&](const std::vector<Var>& i) {
                       PrimExpr result = Resizing(x, size, options, i).value();
                       if (out_dtype.is_integral() && result->dtype.is_float())  // as torch: to nearest
                         result = call(kFloat32, "round", {result});
                       return tir::cast(out_dtype, result);
                     },
                     {.name = "T_resize"});
}

namespace {

// A place mirrored at `low` and `high` until it lies between.
PrimExpr reflected(const PrimExpr& place, const PrimExpr& low, const PrimExpr& high) {
  const PrimExpr span = tir::max(high - low, real(1e-6));
  const PrimExpr distance = absolute(place - low);
  const PrimExpr turns = floor_of(div(distance, span));
  const PrimExpr rest = distance - turns * span;
  const PrimExpr is_even = tir::equal(turns - floor_of(turns * real(0.5)) * real(2.0), real(0.0));
  return select(is_even, low + rest, high - rest);
}

class GridSampling {
 public:
  GridSampling(const Tensor& x, const GridSampleOptions& options) : x_(x), options_(options) {}

  PrimExpr place(const PrimExpr& position, const PrimExpr& extent) const {
    const PrimExpr length = real(extent);
    return options_.align_corners ? (position + real(1.0)) * (length - real(1.0)) * real(0.5)
                                  : ((position + real(1.0)) * length - real(1.0)) * real(0.5);
  }
  PrimExpr bounded(const PrimExpr& place, const PrimExpr& extent) const {
    if (options_.padding == "zeros") return place;
    const PrimExpr last = real(extent) - real(1.0);
    PrimExpr result = place;
    if (options_.padding == "reflection")
      result = options_.align_corners ? reflected(place, real(0.0), last)
                                      : reflected(place, real(-0.5), last + real(0.5));
    return tir::min(tir::max(result, real(0.0)), last);
  }
  // The element at float indices, zero outside.
  PrimExpr element(const std::vector<Var>& i, const PrimExpr& row, const PrimExpr& column) const {
    const PrimExpr places[] = {row, column};
    std::vector<PrimExpr> at{i[0], i[1]};
    PrimExpr inside = bool_imm(true);
    for (size_t n = 0; n < 2; ++n) {
      const PrimExpr& extent = x_.shape()[2 + n];
      inside = tir::logical_and(
          inside, tir::logical_and(real(0.0) <= places[n], places[n] <= real(extent) - real(1.0)));
      at.push_back(clamped(tir::cast(extent->dtype, places[n]), extent));
    }
    const PrimExpr value = x_.at(at);
    return select(inside, value, make_const_int(value->dtype, 0));
  }

 private:
  const Tensor& x_;
  const GridSampleOptions& options_;
};

}  // namespace

Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridSampleOptions& options) {
  const GridSampling sampling(x, options);
  const PrimExpr &height = x.shape()[2], &width = x.shape()[3];
  return te::compute(
      {x.shape()[0], x.shape()[1], grid.shape()[2], grid.shape()[3]},
      [&](const std::vector<Var>& i) {
        PrimExpr column = sampling.place(real(grid.at({i[0], imm(0, kInt64), i[2], i[3]})), width),
                 row = sampling.place(real(grid.at({i[0], imm(1, kInt64), i[2], i[3]})), height);
        if (options.method != "bicubic") {
          column = sampling.bounded(column, width);
          row = sampling.bounded(row, height);
        }
        if (options.method == "nearest")
          return sampling.element(i, call(kFloat32, "round", {row}), call(kFloat32, "round", {column}));
        const PrimExpr top = floor_of(row), left = floor_of(column), down = row - top, right = column - left;
        const bool is_cubic = options.method == "bicubic";
        const std::vector<PrimExpr> rows = is_cubic ? cubic_weights(down, -0.75)
                                                    : std::vector<PrimExpr>{real(1.0) - down, down},
                                    columns = is_cubic ? cubic_weights(right, -0.75)
                                                       : std::vector<PrimExpr>{real(1.0) - right, right};
        PrimExpr result = real(0.0);
        for (size_t r = 0; r < rows.size(); ++r) {
          for (size_t c = 0; c < columns.size(); ++c) {
            const double before = is_cubic ? 1 : 0;
            PrimExpr y = top + real(static_cast<double>(r) - before),
                     z = left + real(static_cast<double>(c) - before);
            if (is_cubic) {
              y = sampling.bounded(y, height);
              z = sampling.bounded(z, width);
            }
            result = result + real(sampling.element(i, y, z)) * rows[r] * columns[c];
          }
        }
        return tir::cast(x.dtype(), result);
      },
      {.name = "T_grid_sample"});
}

Tensor affine_grid(const Tensor& theta, const Shape& size, bool align_corners) {
  Shape shape{theta.shape()[0], imm(static_cast<int64_t>(size.size()), kInt64)};
  shape.insert(shape.end(), size.begin(), size.end());
  // corners are at -1 and 1: of elements in the middle, or the outer ones
  auto position = [&](const PrimExpr& index, const PrimExpr& extent) {
    if (!align_corners)
      return (real(index) * real(2.0) + real(1.0)) * div(real(1.0), real(extent)) - real(1.0);
    return div(real(index) * real(2.0), real(tir::max(extent - 1, make_const_int(extent->dtype, 1)))) -
           real(1.0);
  };
  auto element = [&](const std::vector<Var>& i) {
    auto factor = [&](size_t n) { return theta.at({i[0], i[1], imm(static_cast<int64_t>(n), kInt64)}); };
    PrimExpr sum;
    for (size_t n = 0; n < size.size(); ++n) {  // x is the last dimension
      const size_t dim = size.size() - 1 - n;
      const PrimExpr part = factor(n) * tir::cast(theta.dtype(), position(i[dim + 2], size[dim]));
      sum = sum ? sum + part : part;
    }
    return sum + factor(size.size());
  };
  return te::compute(std::move(shape), element, {.name = "T_affine_grid"});
}

}  // namespace tilewright::topi
