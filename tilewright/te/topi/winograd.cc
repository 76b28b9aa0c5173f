#include "tilewright/te/topi/winograd.h"

#include "tilewright/arith/analyzer.h"
#include "tilewright/te/topi/conv.h"

namespace tilewright::topi {
using namespace tir;
namespace {

constexpr int64_t kTile = 2, kPatch = 4;  // results, and elements that they need, along one dimension

constexpr double kWeight[] = {1, 0, 0, 0.5, 0.5, 0.5, 0.5, -0.5, 0.5, 0, 0, 1};
// B^T and A^T: row n is the formula of value n
constexpr int kData[kPatch][kPatch] = {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}};
constexpr int kResult[kTile][kPatch] = {{1, 1, 1, 0}, {0, 1, -1, -1}};

// The sum of row[n] * element(n), without the zeros; one with a positive factor first.
template <size_t kSize>
PrimExpr combined(const int (&row)[kSize], const std::function<PrimExpr(int64_t)>& element) {
  PrimExpr sum;
  for (const int sign : {1, -1}) {
    for (size_t n = 0; n < kSize; ++n) {
      if (row[n] != sign) continue;
      const PrimExpr term = element(static_cast<int64_t>(n));
      sum = !sum ? term : sign > 0 ? sum + term : sum - term;
    }
  }
  return sum;
}

// Of `rows` formulas the one whose number is `which`.
template <size_t kRows, size_t kSize>
PrimExpr chosen(const PrimExpr& which, const int (&rows)[kRows][kSize],
                const std::function<PrimExpr(int64_t)>& element) {
  PrimExpr value = combined(rows[kRows - 1], element);
  for (size_t n = kRows - 1; n-- > 0;)
    value = select(equal(which, make_const_int(which->dtype, static_cast<int64_t>(n))),
                   combined(rows[n], element), value);
  return value;
}

// `data` with zeros around, as much as whole tiles need.
Tensor with_zeros(const Tensor& data, const std::vector<int64_t>& padding, const Shape& tiles) {
  std::vector<int64_t> before(4), after(4);
  for (size_t n = 0; n < 2; ++n) {
    before[n + 1] = padding[n];
    int64_t missing = 0;
    const PrimExpr extent =
        arith::simplify(tiles[n] * kTile + (kPatch - kTile) - data.shape()[n + 1] - padding[n]);
    TILEWRIGHT_CHECK(as_const_int(extent, &missing), "an image of unknown size");
    after[n + 1] = missing;
  }
  const bool is_whole = std::all_of(after.begin(), after.end(), [](int64_t n) { return n == 0; }) &&
                        std::all_of(before.begin(), before.end(), [](int64_t n) { return n == 0; });
  return is_whole ? data : pad(data, before, after, make_const_int(data.dtype(), 0), "pad_temp");
}

}  // namespace

std::span<const double> winograd_weight_matrix() { return kWeight; }

Tensor conv2d_winograd(const Tensor& data, const Tensor& weight, const std::vector<int64_t>& padding) {
  const PrimExpr batch = data.shape()[0], inputs = data.shape()[3], outputs = weight.shape()[3];
  Shape result{batch, {}, {}, outputs}, tiles(2);
  for (size_t n = 0; n < 2; ++n) {
    result[n + 1] =
        conv_extent(data.shape()[n + 1], make_const_int(kInt64, 3), 1, padding[n] + padding[n + 2], 1);
    tiles[n] = arith::simplify(floordiv(result[n + 1] + (kTile - 1), kTile));
  }
  const Tensor source = with_zeros(data, padding, tiles);
  const PrimExpr patch = make_const_int(kInt64, kPatch), tile = make_const_int(kInt64, kTile);
  const Tensor columns = te::compute(
      {patch, patch, batch, tiles[0], tiles[1], inputs},
      [&](const std::vector<Var>& i) {
        return chosen(i[0], kData, [&](int64_t n) {
          return source.at({i[2], PrimExpr(i[3]) * kTile + n, PrimExpr(i[4]) * kTile + i[1], i[5]});
        });
      },
      {.name = "winograd_columns"});
  const Tensor patches =
      te::compute({patch, patch, batch, tiles[0], tiles[1], inputs},
                  [&](const std::vector<Var>& i) {
                    return chosen(i[1], kData, [&](int64_t n) {
                      return columns.at({i[0], make_const_int(kInt64, n), i[2], i[3], i[4], i[5]});
                    });
                  },
                  {.name = "winograd_patches"});
  const IterVar rc = te::reduce_axis(inputs, "rc");
  const Tensor products = te::compute({patch, patch, batch, tiles[0], tiles[1], outputs},
                                      [&](const std::vector<Var>& i) {
                                        return te::sum(patches.at({i[0], i[1], i[2], i[3], i[4], rc->var}) *
                                                           weight.at({i[0], i[1], rc->var, i[5]}),
                                                       {rc});
                                      },
                                      {.name = "winograd_products"});
  const Tensor rows =
      te::compute({tile, patch, batch, tiles[0], tiles[1], outputs},
                  [&](const std::vector<Var>& i) {
                    return chosen(i[0], kResult, [&](int64_t n) {
                      return products.at({make_const_int(kInt64, n), i[1], i[2], i[3], i[4], i[5]});
                    });
                  },
                  {.name = "winograd_rows"});
  return te::compute(result,
                     [&](const std::vector<Var>& i) {
                       const PrimExpr h = i[1], w = i[2];
                       return chosen(floormod(w, kTile), kResult, [&](int64_t n) {
                         return rows.at({floormod(h, kTile), make_const_int(kInt64, n), i[0],
                                         floordiv(h, kTile), floordiv(w, kTile), i[3]});
                       });
                     },
                     {.name = "conv2d_winograd"});
}

}  // namespace tilewright::topi
