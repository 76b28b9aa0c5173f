#include "tilewright/te/topi/pool_steps.h"

#include "tilewright/arith/analyzer.h"
#include "tilewright/tir/block_roles.h"

namespace tilewright::topi {
using namespace tir;
namespace {

// A part of a window: 2^level elements from `begin` on.
struct Part {
  size_t level = 0;
  int64_t begin = 0;
};

// The parts of a window of `size` elements, if the largest ones have 2^doublings.
std::vector<Part> parts_of_window(PoolKind kind, int64_t size, int64_t doublings) {
  std::vector<Part> parts;
  int64_t begin = 0;
  for (int64_t level = doublings; level >= 0; --level) {
    const int64_t width = int64_t{1} << level;
    for (; begin + width <= size; begin += width) parts.push_back({static_cast<size_t>(level), begin});
    if (kind == PoolKind::kMax && begin < size) {
      parts.push_back({static_cast<size_t>(level), size - width});
      break;
    }
  }
  return parts;
}

// Accesses to memory of a result.
struct StepCosts {
  int64_t doublings = 0, accesses = 0;
};

// Along the vectors of a result, each load with a stride is as many loads, and one more that puts them
// together; steps are computed for each position, and results for each stride-th.
StepCosts costs_by_steps(PoolKind kind, int64_t rows, int64_t size, int64_t stride, int64_t load) {
  StepCosts best;
  for (int64_t doublings = 0; int64_t{1} << doublings < size; ++doublings) {
    const auto num_parts = static_cast<int64_t>(parts_of_window(kind, size, doublings).size());
    const int64_t accesses = stride * (rows + 1 + 3 * doublings) + load * num_parts;
    if (doublings == 0 || accesses < best.accesses) best = {doublings, accesses};
  }
  return best;
}

// Combines neighbours along the last spatial dimension of a pool.
class Steps {
 public:
  Steps(const Pooling& pooling, PoolKind kind)
      : pooling_(pooling),
        kind_(kind),
        n_(pooling.spatial().size() - 1),
        dim_(pooling.spatial()[n_]),
        size_(pooling.options().pool_size[n_]),
        dilation_(pooling.options().dilation[n_]) {}

  // The combined rows of data, with their padding.
  Tensor rows() const {
    Shape shape = pooling_.shape();
    shape[dim_] = extent_for(size_);
    std::vector<IterVar> reduced;
    for (size_t n = 0; n < n_; ++n) {
      if (pooling_.options().pool_size[n] > 1) reduced.push_back(pooling_.reduced()[n]);
    }
    const auto body = [&](const std::vector<Var>& i) {
      const PrimExpr element = element_of_rows(i);
      if (reduced.empty()) return element;
      return kind_ == PoolKind::kMax ? te::max(element, reduced) : te::sum(element, reduced);
    };
    return te::compute(shape, body, te::in_role("pool_rows", kPoolRows));
  }

  // Windows of 2 * `covered` elements, made of those of `covered`.
  Tensor doubled(const Tensor& from, int64_t covered) const {
    Shape shape = from.shape();
    shape[dim_] = extent_for(size_ - (2 * covered - 1));
    const auto body = [&](const std::vector<Var>& i) {
      return combined(from.at(moved(i, 1, 0)), from.at(moved(i, 1, covered)));
    };
    return te::compute(shape, body, te::in_role(fmt::format("pool_step{}", 2 * covered), kPoolStep));
  }

  // The results, of windows that are parts of 2^doublings elements, and smaller ones of sums: a window of 7 is
  // two parts of 4 that overlap, or the sum of parts of 4, 2 and 1.
  Tensor result(int64_t doublings) const {
    std::vector<Tensor> parts = {rows()};
    for (int64_t n = 0; n < doublings; ++n) parts.push_back(doubled(parts.back(), int64_t{1} << n));
    const auto body = [&](const std::vector<Var>& i) {
      PrimExpr value;
      for (const Part& part : parts_of_window(kind_, size_, doublings)) {
        const PrimExpr next = parts[part.level].at(moved(i, stride(), part.begin));
        value = value ? combined(value, next) : next;
      }
      return value;
    };
    return te::compute(pooling_.shape(), body, {.name = kind_ == PoolKind::kMax ? "pool_max" : "pool_sum"});
  }

 private:
  int64_t stride() const { return pooling_.options().strides[n_]; }
  // The positions of parts of windows whose first and last one are `count` - 1 positions of a window apart.
  PrimExpr extent_for(int64_t count) const {
    const PrimExpr& extent = pooling_.shape()[dim_];
    return arith::simplify((extent - 1) * stride() + ((count - 1) * dilation_ + 1));
  }
  std::vector<PrimExpr> moved(const std::vector<Var>& i, int64_t stride, int64_t offset) const {
    std::vector<PrimExpr> indices(i.begin(), i.end());
    indices[dim_] = indices[dim_] * stride + offset * dilation_;
    return indices;
  }
  PrimExpr combined(const PrimExpr& a, const PrimExpr& b) const {
    return kind_ == PoolKind::kMax ? tir::max(a, b) : a + b;
  }
  PrimExpr element_of_rows(const std::vector<Var>& i) const {
    const Tensor& data = pooling_.data();
    std::vector<PrimExpr> indices(i.begin(), i.end());
    PrimExpr inside = bool_imm(true);
    for (size_t n = 0; n <= n_; ++n) {
      PrimExpr& index = indices[pooling_.spatial()[n]];
      index = n == n_ ? index - pooling_.options().padding[n] : pooling_.start(n, index);
      if (n < n_ && pooling_.options().pool_size[n] > 1)
        index = index + PrimExpr(pooling_.reduced()[n]->var) * pooling_.options().dilation[n];
      inside = tir::logical_and(inside, pooling_.inside(n, index));
    }
    if (kind_ == PoolKind::kSum) return guarded_term(inside, data.at(indices));
    return guarded_candidate(inside, data.at(indices));
  }
  const Pooling& pooling_;
  const PoolKind kind_;
  const size_t n_, dim_;
  const int64_t size_, dilation_;
};

// True if neighbours along the last dimension of windows are neighbours in memory.
bool is_along_vectors(const PoolOptions& options) { return options.layout.ends_with('W'); }

int64_t cycles_of_load(const PoolOptions& options) {
  const int64_t stride = options.strides.back();
  return stride > 1 && is_along_vectors(options) ? stride + 1 : 1;
}

StepCosts costs_by_steps(PoolKind kind, const PoolOptions& options) {
  int64_t rows = 1;
  for (size_t n = 0; n + 1 < options.pool_size.size(); ++n) rows *= options.pool_size[n];
  const int64_t size = options.pool_size.back(), stride = options.strides.back();
  return costs_by_steps(kind, rows, size, stride, cycles_of_load(options));
}

}  // namespace

// Counts accesses to memory.  All at once: a load of each element of a window.  By steps: a load of each row
// and a store, two loads and a store of each step, a load of each part of a result.  Where channels are the
// vectors, neighbours share the loads of their windows, which counts as half.
bool is_pooled_by_steps(PoolKind kind, const PoolOptions& options) {
  int64_t at_once = cycles_of_load(options);
  for (int64_t extent : options.pool_size) at_once *= extent;
  const int64_t size = options.pool_size.back();
  if (size == 1) return false;
  const int64_t by_steps = costs_by_steps(kind, options).accesses;
  return by_steps * (is_along_vectors(options) ? 1 : 2) < at_once;
}

Tensor pool_by_steps(PoolKind kind, const Pooling& pooling) {
  return Steps(pooling, kind).result(costs_by_steps(kind, pooling.options()).doublings);
}

}  // namespace tilewright::topi
