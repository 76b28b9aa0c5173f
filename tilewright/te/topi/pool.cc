#include "tilewright/te/topi/pool.h"

#include "tilewright/arith/analyzer.h"
#include "tilewright/te/topi/pool_steps.h"
#include "tilewright/te/topi/pool_windows.h"
#include "tilewright/te/topi/reduce.h"

namespace tilewright::topi {
using namespace tir;
namespace {

// total / count, rounded to `dtype`
PrimExpr mean_of(const PrimExpr& total, const PrimExpr& count, DataType dtype) {
  return tir::cast(dtype, div(total, tir::cast(total->dtype, count)));
}

}  // namespace

std::vector<size_t> spatial_dims(const std::string& layout) {
  std::vector<size_t> dims;
  for (char letter : {'D', 'H', 'W'}) {
    if (const size_t at = layout.find(letter); at != std::string::npos) dims.push_back(at);
  }
  return dims;
}

PrimExpr pool_extent(const PrimExpr& extent, int64_t pool, int64_t stride, int64_t pad_before,
                     int64_t pad_after, int64_t dilation, bool ceil_mode) {
  const int64_t covered = (pool - 1) * dilation + 1, pad = pad_before + pad_after - covered;
  if (!ceil_mode) return arith::simplify(floordiv(extent + pad, stride) + 1);
  const PrimExpr reaching = floordiv(extent + (pad + stride - 1), stride) + 1;
  const PrimExpr starting = floordiv(extent + (pad_before + stride - 1), stride);
  return arith::simplify(tir::min(reaching, starting));
}

Tensor max_pool(const Tensor& data, const PoolOptions& options) {
  const Pooling pooling(data, options);
  if (is_pooled_by_steps(PoolKind::kMax, options))
    return rounded_to(pool_by_steps(PoolKind::kMax, pooling), data.dtype());
  const Tensor largest = te::compute(
      pooling.shape(),
      [&](const std::vector<Var>& i) {
        const Window window = pooling.window(i);
        return te::max(guarded_candidate(window.inside, data.at(window.indices)), pooling.reduced());
      },
      {.name = "pool_max"});
  return rounded_to(largest, data.dtype());
}

Tensor avg_pool(const Tensor& data, const PoolOptions& options) {
  const Pooling pooling(data, options);
  const auto all_at_once = [&] {
    return te::compute(pooling.shape(),
                       [&](const std::vector<Var>& i) {
                         const Window window = pooling.window(i);
                         return te::sum(guarded_term(window.inside, data.at(window.indices)),
                                        pooling.reduced());
                       },
                       {.name = "pool_sum"});
  };
  const Tensor total =
      is_pooled_by_steps(PoolKind::kSum, options) ? pool_by_steps(PoolKind::kSum, pooling) : all_at_once();
  return te::compute(pooling.shape(),
                     [&](const std::vector<Var>& i) {
                       return mean_of(total.at({i.begin(), i.end()}), pooling.window(i).count, data.dtype());
                     },
                     {.name = "pool_avg"});
}

Tensor max_pool_backward(const Tensor& grad, const Tensor& data, const PoolOptions& options) {
  const Pooling pooling(data, options);
  const size_t ndim = data.ndim();
  Shape shape = pooling.shape();
  Axes inside;
  for (const IterVar& axis : pooling.reduced()) {
    inside.push_back(static_cast<int64_t>(shape.size()));
    shape.push_back(axis->dom->extent);
  }
  const Tensor windows =
      te::compute(shape,
                  [&](const std::vector<Var>& i) {
                    const auto middle = i.begin() + static_cast<long>(ndim);
                    const Window window = pooling.window({i.begin(), middle}, {middle, i.end()});
                    return guarded(window.inside, data.at(window.indices), min_value(data.dtype()));
                  },
                  {.name = "pool_windows"});
  const Tensor largest = argmax(windows, inside);
  return pooling.over_windows(
      [&](const std::vector<PrimExpr>& result, const std::vector<PrimExpr>& offsets) {
        PrimExpr place = offsets[0];
        for (size_t n = 1; n < offsets.size(); ++n) place = place * options.pool_size[n] + offsets[n];
        const PrimExpr own = widened(grad.at(result));
        return tir::select(tir::equal(largest.at(result), tir::cast(kInt64, place)), own,
                           make_const_int(own->dtype, 0));
      },
      "max_pool_backward");
}

Tensor avg_pool_backward(const Tensor& grad, const Tensor& data, const PoolOptions& options) {
  const Pooling pooling(data, options);
  return pooling.over_windows(
      [&](const std::vector<PrimExpr>& result, const std::vector<PrimExpr>& offsets) {
        const PrimExpr whole = widened(grad.at(result));
        return mean_of(whole, pooling.window(result, offsets).count, whole->dtype);
      },
      "avg_pool_backward");
}

Tensor adaptive_avg_pool(const Tensor& data, const Shape& output_size, const std::string& layout) {
  const std::vector<size_t> spatial = spatial_dims(layout);
  Shape shape = data.shape();
  std::vector<IterVar> reduced;
  for (size_t n = 0; n < spatial.size(); ++n) {
    const PrimExpr& extent = data.shape()[spatial[n]];
    shape[spatial[n]] = output_size[n];
    const bool divides = is_zero(arith::simplify(floormod(extent, output_size[n])));
    const PrimExpr longest = divides ? floordiv(extent, output_size[n]) : ceildiv(extent, output_size[n]) + 1;
    reduced.push_back(te::reduce_axis(arith::simplify(longest), fmt::format("rv{}", n)));
  }
  auto begin = [&](size_t n, const PrimExpr& i) {
    return floordiv(i * data.shape()[spatial[n]], output_size[n]);
  };
  auto end = [&](size_t n, const PrimExpr& i) {
    return ceildiv((i + 1) * data.shape()[spatial[n]], output_size[n]);
  };
  const Tensor total =
      te::compute(shape,
                  [&](const std::vector<Var>& i) {
                    std::vector<PrimExpr> indices(i.begin(), i.end());
                    PrimExpr inside = bool_imm(true);
                    for (size_t n = 0; n < spatial.size(); ++n) {
                      const PrimExpr out = i[spatial[n]];
                      indices[spatial[n]] = arith::simplify(begin(n, out) + PrimExpr(reduced[n]->var));
                      if (!is_zero(arith::simplify(floormod(data.shape()[spatial[n]], output_size[n]))))
                        inside = tir::logical_and(inside, indices[spatial[n]] < end(n, out));
                    }
                    return te::sum(guarded_term(inside, data.at(indices)), reduced);
                  },
                  {.name = "adaptive_pool_sum"});
  return te::compute(shape,
                     [&](const std::vector<Var>& i) {
                       PrimExpr count = imm(1, kInt64);
                       for (size_t n = 0; n < spatial.size(); ++n)
                         count = count * tir::cast(kInt64, end(n, PrimExpr(i[spatial[n]])) -
                                                               begin(n, PrimExpr(i[spatial[n]])));
                       return mean_of(total.at({i.begin(), i.end()}), arith::simplify(count), data.dtype());
                     },
                     {.name = "adaptive_pool_avg"});
}

Tensor adaptive_avg_pool_backward(const Tensor& grad, const Tensor& data, const std::string& layout) {
  const std::vector<size_t> spatial = spatial_dims(layout);
  std::vector<IterVar> reduced;
  for (size_t dim : spatial) reduced.push_back(te::reduce_axis(grad.shape()[dim], "r"));
  const Tensor sums = te::compute(
      data.shape(),
      [&](const std::vector<Var>& i) {
        std::vector<PrimExpr> result(i.begin(), i.end());
        PrimExpr covers = bool_imm(true), count = imm(1, kInt64);
        for (size_t n = 0; n < spatial.size(); ++n) {
          const PrimExpr part = reduced[n]->var, at = i[spatial[n]];
          const PrimExpr &extent = data.shape()[spatial[n]], &parts = grad.shape()[spatial[n]];
          const PrimExpr begin = floordiv(part * extent, parts), end = ceildiv((part + 1) * extent, parts);
          result[spatial[n]] = part;
          covers = tir::logical_and(covers, tir::logical_and(begin <= at, at < end));
          count = count * tir::cast(kInt64, end - begin);
        }
        const PrimExpr whole = widened(grad.at(result)), share = mean_of(whole, count, whole->dtype);
        return te::sum(tir::select(covers, share, make_const_int(share->dtype, 0)), reduced);
      },
      {.name = "adaptive_avg_pool_backward"});
  return rounded_to(sums, data.dtype());
}

}  // namespace tilewright::topi
