#include "tilewright/te/topi/image.h"

#include "tilewright/te/topi/resize.h"

namespace tilewright::topi {
using namespace tir;
namespace {

// A literal of the dtype that coordinates are computed in: float32, as in the frameworks.
PrimExpr real(double value) { return make_const(kFloat32, value); }
PrimExpr real(const PrimExpr& value) { return tir::cast(kFloat32, value); }
PrimExpr floor_of(const PrimExpr& value) { return call(kFloat32, "floor", {value}); }
PrimExpr absolute(const PrimExpr& value) { return call(kFloat32, "abs", {value}); }

// A coordinate reflected at `low` and `high` until it lies between them.
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
