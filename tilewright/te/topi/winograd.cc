#include "tilewright/te/topi/winograd.h"

#include <algorithm>
#include <cmath>

#include "tilewright/arith/analyzer.h"
#include "tilewright/tir/block_roles.h"

namespace tilewright::topi {
using namespace tir;
namespace {

constexpr int64_t kWindow = 3;

// Polynomials are evaluated at 0, kNear, -kNear, kFar, -kFar and infinity.
constexpr double kNear = 0.75, kFar = 1.5, kNear2 = kNear * kNear, kFar2 = kFar * kFar;
constexpr double kOfNear = 1 / (2 * kNear2 * (kNear2 - kFar2)), kOfFar = 1 / (2 * kFar2 * (kFar2 - kNear2));

constexpr double kWeightOfTwo[] = {1, 0, 0, 0.5, 0.5, 0.5, 0.5, -0.5, 0.5, 0, 0, 1};
constexpr double kWeightOfFour[] = {1 / (kNear2 * kFar2),
                                    0,
                                    0,  //
                                    kOfNear,
                                    kNear* kOfNear,
                                    kNear2* kOfNear,  //
                                    kOfNear,
                                    -kNear* kOfNear,
                                    kNear2* kOfNear,  //
                                    kOfFar,
                                    kFar* kOfFar,
                                    kFar2* kOfFar,  //
                                    kOfFar,
                                    -kFar* kOfFar,
                                    kFar2* kOfFar,  //
                                    0,
                                    0,
                                    1};

using Element = std::function<PrimExpr(int64_t)>;

// Value n of B^T d.
PrimExpr data_value(int64_t m, int64_t n, const Element& d) {
  if (m == 2) return n == 0 ? d(0) - d(2) : n == 1 ? d(1) + d(2) : n == 2 ? d(2) - d(1) : d(1) - d(3);
  const auto c = [&](double value) { return make_const(d(0)->dtype, value); };
  if (n == 0 || n == 5)
    return d(n == 0 ? 0 : 1) * c(kNear2 * kFar2) - d(n == 0 ? 2 : 3) * c(kNear2 + kFar2) + d(n == 0 ? 4 : 5);
  // a point and its opposite share the even and odd parts
  const double other = n < 3 ? kFar2 : kNear2;
  const PrimExpr even = d(4) - d(2) * c(other), odd = (d(3) - d(1) * c(other)) * c(n < 3 ? kNear : kFar);
  return n % 2 == 1 ? even + odd : even - odd;
}

// Value n of A^T y.
PrimExpr result_value(int64_t m, int64_t n, const Element& y) {
  if (m == 2) return n == 0 ? y(0) + y(1) + y(2) : y(1) - y(2) - y(3);
  const auto c = [&](double value) { return make_const(y(0)->dtype, value); };
  const bool is_odd = n % 2 == 1;
  const PrimExpr near = is_odd ? y(1) - y(2) : y(1) + y(2), far = is_odd ? y(3) - y(4) : y(3) + y(4);
  if (n == 0) return y(0) + (near + far);
  const PrimExpr sum = near * c(std::pow(kNear, n)) + far * c(std::pow(kFar, n));
  return n == 3 ? sum + y(5) : sum;
}

// The formula with the number `which`, of `count`.
PrimExpr chosen(const PrimExpr& which, int64_t count, const Element& formula) {
  PrimExpr value = formula(count - 1);
  for (int64_t n = count - 1; n-- > 0;)
    value = select(equal(which, make_const_int(which->dtype, n)), formula(n), value);
  return value;
}

// `data` with `before` zeros before its height and width, and as many after them as `shape` asks for.
Tensor with_open_border(const Tensor& data, const std::vector<int64_t>& before, const Shape& shape) {
  return te::compute(shape,
                     [&](const std::vector<Var>& i) {
                       std::vector<PrimExpr> indices(i.begin(), i.end());
                       PrimExpr inside = bool_imm(true);
                       for (size_t n = 1; n < 3; ++n) {
                         const PrimExpr axis = i[n];
                         indices[n] = axis - before[n];
                         if (before[n] > 0)
                           inside = logical_and(inside, make_const_int(axis->dtype, before[n]) <= axis);
                         inside = logical_and(inside, axis < data.shape()[n] + before[n]);
                       }
                       const PrimExpr element = data.at(indices);
                       return call(element->dtype, "if_then_else",
                                   {inside, element, make_const_int(element->dtype, 0)});
                     },
                     {.name = "pad_temp"});
}

// `data` padded with zeros to whole tiles.
Tensor with_zeros(const Tensor& data, const std::vector<int64_t>& padding, const Shape& tiles, int64_t m) {
  std::vector<int64_t> before(4), after(4);
  Shape shape = data.shape();
  bool is_open = false;
  for (size_t n = 0; n < 2; ++n) {
    before[n + 1] = padding[n];
    shape[n + 1] = arith::simplify(tiles[n] * m + (kWindow - 1));
    const PrimExpr missing = arith::simplify(shape[n + 1] - data.shape()[n + 1] - padding[n]);
    is_open |= !as_const_int(missing, &after[n + 1]);
  }
  if (is_open) return with_open_border(data, before, shape);
  const bool is_whole = std::all_of(after.begin(), after.end(), [](int64_t n) { return n == 0; }) &&
                        std::all_of(before.begin(), before.end(), [](int64_t n) { return n == 0; });
  return is_whole ? data : pad(data, before, after, make_const_int(data.dtype(), 0), "pad_temp");
}

}  // namespace

bool is_worth_winograd(const ConvOptions& conv, int64_t height, int64_t width, int64_t inputs,
                       int64_t outputs, int64_t pixels, const WinogradLimits& limits) {
  const std::vector<int64_t> ones(2, 1);
  return height == kWindow && width == kWindow && conv.strides == ones && conv.dilation == ones &&
         conv.groups == 1 && inputs > 0 && outputs > 0 &&
         inputs * outputs >= limits.min_channels * (inputs + outputs) && pixels >= limits.min_pixels;
}

std::span<const double> winograd_weight_matrix(int64_t m) {
  return m == 2 ? std::span<const double>(kWeightOfTwo) : std::span<const double>(kWeightOfFour);
}

Tensor conv2d_winograd(const Tensor& data, const Tensor& weight, const std::vector<int64_t>& padding) {
  int64_t points = 0;
  TILEWRIGHT_CHECK(as_const_int(weight.shape()[0], &points) && (points == 4 || points == 6),
                   "a weight for no tile");
  const int64_t m = points - (kWindow - 1);
  const PrimExpr batch = data.shape()[0], inputs = data.shape()[3], outputs = weight.shape()[3];
  Shape result{batch, {}, {}, outputs}, tiles(2);
  for (size_t n = 0; n < 2; ++n) {
    result[n + 1] =
        conv_extent(data.shape()[n + 1], make_const_int(kInt64, kWindow), 1, padding[n] + padding[n + 2], 1);
    tiles[n] = arith::simplify(floordiv(result[n + 1] + (m - 1), m));
  }
  const Tensor source = with_zeros(data, padding, tiles, m);
  const PrimExpr patch = make_const_int(kInt64, points), tile = make_const_int(kInt64, m);
  const auto at = [](int64_t n) { return make_const_int(kInt64, n); };
  const Tensor columns = te::compute(
      {patch, patch, batch, tiles[0], tiles[1], inputs},
      [&](const std::vector<Var>& i) {
        const Element element = [&](int64_t n) {
          return source.at({i[2], PrimExpr(i[3]) * m + n, PrimExpr(i[4]) * m + i[1], i[5]});
        };
        return chosen(i[0], points, [&](int64_t n) { return data_value(m, n, element); });
      },
      te::in_role("winograd_columns", kWinogradColumns));
  const Tensor patches = te::compute(
      {patch, patch, batch, tiles[0], tiles[1], inputs},
      [&](const std::vector<Var>& i) {
        const Element element = [&](int64_t n) { return columns.at({i[0], at(n), i[2], i[3], i[4], i[5]}); };
        return chosen(i[1], points, [&](int64_t n) { return data_value(m, n, element); });
      },
      te::in_role("winograd_patches", kWinogradPatches));
  const IterVar rc = te::reduce_axis(inputs, "rc");
  const Tensor products = te::compute(
      {patch, patch, batch, tiles[0], tiles[1], outputs},
      [&](const std::vector<Var>& i) {
        return te::sum(
            patches.at({i[0], i[1], i[2], i[3], i[4], rc->var}) * weight.at({i[0], i[1], rc->var, i[5]}),
            {rc});
      },
      te::in_role("winograd_products", kWinogradProducts));
  const Tensor rows = te::compute(
      {tile, patch, batch, tiles[0], tiles[1], outputs},
      [&](const std::vector<Var>& i) {
        const Element element = [&](int64_t n) { return products.at({at(n), i[1], i[2], i[3], i[4], i[5]}); };
        return chosen(i[0], m, [&](int64_t n) { return result_value(m, n, element); });
      },
      te::in_role("winograd_rows", kWinogradRows));
  return te::compute(result,
                     [&](const std::vector<Var>& i) {
                       const PrimExpr h = i[1], w = i[2];
                       const Element element = [&](int64_t n) {
                         return rows.at({floormod(h, m), at(n), i[0], floordiv(h, m), floordiv(w, m), i[3]});
                       };
                       return chosen(floormod(w, m), m,
                                     [&](int64_t n) { return result_value(m, n, element); });
                     },
                     {.name = "conv2d_winograd"});
}

}  // namespace tilewright::topi
