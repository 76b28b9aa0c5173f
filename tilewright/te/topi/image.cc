#include "tilewright/te/topi/image.h"

#include <algorithm>
#include <cstdint>

#include "tilewright/te/topi/resize.h"

namespace tilewright::topi {
using namespace tir;
namespace {

constexpr DataType kFloat64 = DataType::float_(64);

// Literals and values of the dtype that coordinates are computed in.
PrimExpr real(double value, DataType dtype = kFloat32) { return make_const(dtype, value); }
PrimExpr real(const PrimExpr& value, DataType dtype = kFloat32) { return tir::cast(dtype, value); }
PrimExpr floor_of(const PrimExpr& value) { return call(value->dtype, "floor", {value}); }
PrimExpr absolute(const PrimExpr& value) { return call(value->dtype, "abs", {value}); }

// A coordinate reflected at `low` and `high` until it lies between them.
PrimExpr reflected(const PrimExpr& place, const PrimExpr& low, const PrimExpr& high) {
  const DataType dtype = place->dtype;
  const PrimExpr span = tir::max(high - low, real(1e-6, dtype));
  const PrimExpr distance = absolute(place - low);
  const PrimExpr turns = floor_of(div(distance, span));
  const PrimExpr rest = distance - turns * span;
  const PrimExpr is_even =
      tir::equal(turns - floor_of(turns * real(0.5, dtype)) * real(2.0, dtype), real(0.0, dtype));
  return select(is_even, low + rest, high - rest);
}

// Coordinates are float32, as in the frameworks, or float64 if elements or the grid are.
class GridSampling {
 public:
  GridSampling(const Tensor& x, const Tensor& grid, const GridSampleOptions& options)
      : x_(x),
        options_(options),
        dtype_(x.dtype() == kFloat64 || grid.dtype() == kFloat64 ? kFloat64 : kFloat32) {}

  size_t num_spatial() const { return x_.ndim() - 2; }
  DataType dtype() const { return dtype_; }
  PrimExpr number(double value) const { return real(value, dtype_); }
  PrimExpr extent(size_t n) const { return real(x_.shape()[2 + n], dtype_); }

  PrimExpr place(const PrimExpr& position, size_t n) const {
    const PrimExpr from_start = real(position, dtype_) + number(1.0);
    return options_.align_corners ? from_start * (extent(n) - number(1.0)) * number(0.5)
                                  : (from_start * extent(n) - number(1.0)) * number(0.5);
  }
  PrimExpr bounded(const PrimExpr& place, size_t n) const {
    if (options_.padding == "zeros") return place;
    const PrimExpr last = extent(n) - number(1.0);
    PrimExpr result = place;
    if (options_.padding == "reflection") {
      const double edge = options_.align_corners ? 0.0 : 0.5;
      result = reflected(place, number(-edge), last + number(edge));
    }
    return tir::min(tir::max(result, number(0.0)), last);
  }
  PrimExpr inside(const PrimExpr& place, size_t n) const {
    return tir::logical_and(number(0.0) <= place, place <= extent(n) - number(1.0));
  }
  // The element at float indices, zero outside.
  PrimExpr element(const std::vector<Var>& i, const std::vector<PrimExpr>& places) const {
    std::vector<PrimExpr> at{i[0], i[1]};
    PrimExpr inside = bool_imm(true);
    for (size_t n = 0; n < places.size(); ++n) {
      inside = tir::logical_and(inside, this->inside(places[n], n));
      const PrimExpr& length = x_.shape()[2 + n];
      at.push_back(clamped(tir::cast(length->dtype, places[n]), length));
    }
    const PrimExpr value = x_.at(at);
    return select(inside, value, make_const_int(value->dtype, 0));
  }
  // The sum of the elements around `places` times weights, dimension by dimension.
  PrimExpr interpolated(const std::vector<Var>& i, const std::vector<PrimExpr>& places) const {
    std::vector<PrimExpr> chosen(places.size());
    return along(i, places, 0, &chosen);
  }

 private:
  PrimExpr along(const std::vector<Var>& i, const std::vector<PrimExpr>& places, size_t n,
                 std::vector<PrimExpr>* chosen) const {
    if (n == places.size()) return real(element(i, *chosen), dtype_);
    const bool is_cubic = options_.method == "bicubic";
    const PrimExpr first = floor_of(places[n]), after = places[n] - first;
    const std::vector<PrimExpr> weights =
        is_cubic ? cubic_weights(after, -0.75) : std::vector<PrimExpr>{number(1.0) - after, after};
    PrimExpr sum;
    for (size_t k = 0; k < weights.size(); ++k) {
      const PrimExpr at = first + number(static_cast<double>(k) - (is_cubic ? 1 : 0));
      (*chosen)[n] = is_cubic ? bounded(at, n) : at;
      PrimExpr term = along(i, places, n + 1, chosen) * weights[k];
      // what lies outside is 0, whatever its weight: that of a place that is no finite number may be NaN
      if (options_.padding == "zeros") term = select(inside(at, n), term, number(0.0));
      sum = sum ? sum + term : term;
    }
    return sum;
  }

  const Tensor& x_;
  const GridSampleOptions& options_;
  DataType dtype_;
};

}  // namespace

namespace {
// Bilinear samples of pictures: where the four elements around a place lie, and what they weigh, is computed once for
// all channels.
Tensor bilinear_pictures(const Tensor& x, const Tensor& grid, const GridSampleOptions& options) {
  const GridSampling sampling(x, grid, options);
  const PrimExpr &height = x.shape()[2], &width = x.shape()[3];
  const Shape corners{x.shape()[0], imm(4, kInt64), grid.shape()[2], grid.shape()[3]};
  // of corner i[1] in one dimension: its position, and its weight
  const auto along = [&](const std::vector<Var>& i, size_t n) {
    const PrimExpr place =
        sampling.bounded(sampling.place(grid.at({i[0], imm(n == 0 ? 1 : 0, kInt64), i[2], i[3]}), n), n);
    const PrimExpr side = n == 0 ? floordiv(i[1], 2) : floormod(i[1], 2);
    const PrimExpr is_first = tir::equal(side, imm(0, kInt64)), first = floor_of(place),
                   after = place - first;
    return std::pair{first + real(side, sampling.dtype()),
                     select(is_first, sampling.number(1.0) - after, after)};
  };
  const Tensor offsets =
      te::compute(corners,
                  [&](const std::vector<Var>& i) {
                    const PrimExpr row = clamped(tir::cast(height->dtype, along(i, 0).first), height),
                                   column = clamped(tir::cast(width->dtype, along(i, 1).first), width);
                    const PrimExpr inside = tir::logical_and(sampling.inside(along(i, 0).first, 0),
                                                             sampling.inside(along(i, 1).first, 1));
                    // -1: outside
                    return tir::cast(kInt32, select(inside, row * width + column, imm(-1, kInt64)));
                  },
                  {.name = "T_offsets"});
  const Tensor weights =
      te::compute(corners, [&](const std::vector<Var>& i) { return along(i, 0).second * along(i, 1).second; },
                  {.name = "T_weights"});
  return te::compute({x.shape()[0], x.shape()[1], grid.shape()[2], grid.shape()[3]},
                     [&](const std::vector<Var>& i) {
                       PrimExpr sum;
                       for (int64_t k = 0; k < 4; ++k) {
                         const PrimExpr offset = offsets.at({i[0], imm(k, kInt64), i[2], i[3]}),
                                        weight = weights.at({i[0], imm(k, kInt64), i[2], i[3]}),
                                        none = imm(0, kInt32);
                         const PrimExpr at = tir::cast(kInt64, tir::max(offset, none));
                         const PrimExpr value = real(
                             x.at({i[0], i[1], floordiv(at, width), floormod(at, width)}), sampling.dtype());
                         // the weight of a place that is no finite number may be NaN
                         const PrimExpr term = select(offset < none, sampling.number(0.0), value * weight);
                         sum = sum ? sum + term : term;
                       }
                       return tir::cast(x.dtype(), sum);
                     },
                     {.name = "T_grid_sample"});
}

// True if the elements of a picture are numbered by int32.
bool has_small_planes(const Tensor& x) {
  int64_t height = 0, width = 0;
  return x.ndim() == 4 && as_const_int(x.shape()[2], &height) && as_const_int(x.shape()[3], &width) &&
         width > 0 && height <= INT32_MAX / width;
}
}  // namespace

Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridSampleOptions& options) {
  if (options.method == "bilinear" && has_small_planes(x)) return bilinear_pictures(x, grid, options);
  const GridSampling sampling(x, grid, options);
  const size_t count = sampling.num_spatial();
  Shape shape{x.shape()[0], x.shape()[1]};
  shape.insert(shape.end(), grid.shape().begin() + 2, grid.shape().end());
  return te::compute(shape,
                     [&](const std::vector<Var>& i) {
                       std::vector<PrimExpr> places;
                       for (size_t n = 0; n < count; ++n) {
                         std::vector<PrimExpr> at{i[0], imm(static_cast<int64_t>(count - 1 - n),
                                                            kInt64)};  // x is the last dimension
                         at.insert(at.end(), i.begin() + 2, i.end());
                         const PrimExpr place = sampling.place(grid.at(at), n);
                         places.push_back(options.method == "bicubic" ? place : sampling.bounded(place, n));
                         if (options.method == "nearest")
                           places[n] = call(places[n]->dtype, "round", {places[n]});
                       }
                       if (options.method == "nearest") return sampling.element(i, places);
                       return tir::cast(x.dtype(), sampling.interpolated(i, places));
                     },
                     {.name = "T_grid_sample"});
}

namespace {
// The elements around the place that an element of a window is moved to, two along each dimension.
class Corners {
 public:
  Corners(const Shape& size, const Tensor& offset, const Tensor& mask, const DeformedWindows& windows,
          DataType dtype)
      : size_(size), offset_(offset), mask_(mask), windows_(windows), dtype_(dtype) {
    for (const int64_t extent : windows.kernel) elements_ *= extent;
    // int32 where it numbers all elements
    int64_t places = 1, extent = 0;
    for (const PrimExpr& each : size) {
      const bool is_small = as_const_int(each, &extent) && extent <= INT32_MAX / std::max<int64_t>(places, 1);
      index_ = is_small && index_ == kInt32 ? kInt32 : kInt64;
      places *= is_small ? extent : 1;
    }
    shape_ = {offset.shape()[0], imm(windows.groups, kInt64), imm(count(), kInt64), imm(elements_, kInt64)};
    shape_.insert(shape_.end(), windows.extents.begin(), windows.extents.end());
  }
  int64_t count() const { return int64_t{1} << size_.size(); }
  int64_t elements() const { return elements_; }

  /// [n, groups, corners, elements, windows ..]: where they lie in a row of all elements; -1: outside.
  Tensor places() const {
    return te::compute(shape_,
                       [&](const std::vector<Var>& i) {
                         PrimExpr place = make_const_int(index_, 0), inside = bool_imm(true);
                         for (size_t n = 0; n < size_.size(); ++n) {
                           const PrimExpr at = first(i, n) + real(side(i, n), dtype_),
                                          last = real(size_[n], dtype_) - real(1.0, dtype_),
                                          none = real(0.0, dtype_);
                           inside = tir::logical_and(inside, tir::logical_and(none <= at, at <= last));
                           place = place * tir::cast(index_, size_[n]) +
                                   tir::cast(index_, tir::min(tir::max(at, none), last));
                         }
                         return select(inside, place, make_const_int(index_, -1));
                       },
                       {.name = "T_places"});
  }
  /// What they weigh.
  Tensor weights() const {
    return te::compute(shape_,
                       [&](const std::vector<Var>& i) {
                         PrimExpr weight;
                         for (size_t n = 0; n < size_.size(); ++n) {
                           const PrimExpr after = position(i, n) - first(i, n);
                           const PrimExpr own = select(tir::equal(side(i, n), imm(0, kInt64)),
                                                       real(1.0, dtype_) - after, after);
                           weight = weight ? weight * own : own;
                         }
                         if (mask_) weight = weight * real(of_window(mask_, i, element_of_group(i)), dtype_);
                         return weight;
                       },
                       {.name = "T_weights"});
  }

 private:
  static PrimExpr of_window(const Tensor& field, const std::vector<Var>& i, const PrimExpr& number) {
    std::vector<PrimExpr> at{i[0], number};
    at.insert(at.end(), i.begin() + 4, i.end());
    return field.at(at);
  }
  PrimExpr element_of_group(const std::vector<Var>& i) const { return i[1] * elements_ + i[3]; }
  // Where the element of the window lies in dimension n, between two elements of the picture.
  PrimExpr position(const std::vector<Var>& i, size_t n) const {
    int64_t inner = 1;  // elements of a window with the same place in dimension n that follow each other
    for (size_t k = n + 1; k < size_.size(); ++k) inner *= windows_.kernel[k];
    const PrimExpr k = floormod(floordiv(i[3], inner), windows_.kernel[n]);
    const PrimExpr start = i[4 + n] * windows_.strides[n] - windows_.before[n] + k * windows_.dilations[n];
    const auto ndim = static_cast<int64_t>(size_.size());
    const PrimExpr moved = of_window(offset_, i, element_of_group(i) * ndim + static_cast<int64_t>(n));
    return real(start, dtype_) + real(moved, dtype_);
  }
  PrimExpr first(const std::vector<Var>& i, size_t n) const { return floor_of(position(i, n)); }
  // 0 for the corners before the position, 1 for those after it.
  PrimExpr side(const std::vector<Var>& i, size_t n) const {
    return floormod(floordiv(i[2], int64_t{1} << (size_.size() - 1 - n)), 2);
  }

  const Shape& size_;
  const Tensor &offset_, &mask_;
  const DeformedWindows& windows_;
  DataType dtype_, index_ = kInt32;
  int64_t elements_ = 1;
  Shape shape_;
};
}  // namespace

Tensor deformed_columns(const Tensor& x, const Shape& size, const Tensor& offset, const Tensor& mask,
                        const DeformedWindows& windows) {
  const DataType dtype = x.dtype() == kFloat64 || offset.dtype() == kFloat64 ? kFloat64 : kFloat32;
  const Corners corners(size, offset, mask, windows, dtype);
  const Tensor places = corners.places(), weights = corners.weights();
  const PrimExpr channels = floordiv(x.shape()[2], windows.groups);
  Shape shape{x.shape()[0]};
  shape.insert(shape.end(), windows.extents.begin(), windows.extents.end());
  shape.insert(shape.end(), {imm(corners.elements(), kInt64), imm(windows.groups, kInt64), channels});
  return te::compute(
      shape,
      [&](const std::vector<Var>& i) {
        const size_t group = i.size() - 2;
        PrimExpr sum;
        for (int64_t k = 0; k < corners.count(); ++k) {
          std::vector<PrimExpr> at{i[0], i[group], imm(k, kInt64), i[group - 1]};
          at.insert(at.end(), i.begin() + 1, i.begin() + static_cast<long>(group) - 1);
          const PrimExpr place = places.at(at), none = make_const_int(place->dtype, 0);
          const PrimExpr value = real(
              x.at({i[0], tir::cast(kInt64, tir::max(place, none)), i[group] * channels + i.back()}), dtype);
          const PrimExpr term = select(place < none, real(0.0, dtype), value) * weights.at(at);
          sum = sum ? sum + term : term;
        }
        return tir::cast(x.dtype(), sum);
      },
      {.name = "T_columns"});
}

Tensor affine_grid(const Tensor& theta, const Shape& size, bool align_corners) {
  Shape shape{theta.shape()[0], imm(static_cast<int64_t>(size.size()), kInt64)};
  shape.insert(shape.end(), size.begin(), size.end());
  // the corners -1 and 1 are the centres of the outer elements, or their outer edges
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
