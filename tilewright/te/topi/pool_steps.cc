#include "tilewright/te/topi/pool_steps.h"

#include "tilewright/arith/analyzer.h"
#include "tilewright/tir/block_roles.h"

namespace tilewright::topi {
using namespace tir;
namespace {

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

  Tensor largest() const {
    Tensor parts = rows();
    int64_t covered = 1;
    for (; 2 * covered < size_; covered *= 2) parts = doubled(parts, covered);
    return result([&](const std::vector<Var>& i) {
      return combined(parts.at(moved(i, stride(), 0)), parts.at(moved(i, stride(), size_ - covered)));
    });
  }

  // 7 = 4 + 2 + 1 elements
  Tensor sums() const {
    std::vector<Tensor> parts = {rows()};
    for (int64_t covered = 1; 2 * covered <= size_; covered *= 2)
      parts.push_back(doubled(parts.back(), covered));
    return result([&](const std::vector<Var>& i) {
      PrimExpr sum;
      int64_t begin = 0;
      for (size_t n = parts.size(); n-- > 0;) {
        const int64_t covered = int64_t{1} << n;
        if ((size_ & covered) == 0) continue;
        const PrimExpr part = parts[n].at(moved(i, stride(), begin));
        sum = begin == 0 ? part : sum + part;
        begin += covered;
      }
      return sum;
    });
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
    return guarded(inside, data.at(indices), min_value(data.dtype()));
  }
  Tensor result(const te::ComputeBody& body) const {
    return te::compute(pooling_.shape(), body, {.name = kind_ == PoolKind::kMax ? "pool_max" : "pool_sum"});
  }

  const Pooling& pooling_;
  const PoolKind kind_;
  const size_t n_, dim_;
  const int64_t size_, dilation_;
};

// The steps that double until a window of `size` elements is two of them.
int64_t num_doublings(int64_t size) {
  int64_t count = 0;
  for (int64_t covered = 1; 2 * covered < size; covered *= 2) ++count;
  return count;
}

}  // namespace

// Counts accesses to memory of a result with stride 1.  All at once: a load of each element of a window.  By
// steps: a load of each row and a store, two loads and a store of each step, two loads of the last one.
bool is_pooled_by_steps(const PoolOptions& options) {
  int64_t rows = 1;
  for (size_t n = 0; n + 1 < options.pool_size.size(); ++n) rows *= options.pool_size[n];
  const int64_t size = options.pool_size.back();
  const int64_t by_steps = (rows + 1) + 3 * num_doublings(size) + 2;
  return size > 1 && by_steps < rows * size;
}

Tensor pool_by_steps(const Pooling& pooling, PoolKind kind) {
  const Steps steps(pooling, kind);
  return kind == PoolKind::kMax ? steps.largest() : steps.sums();
}

}  // namespace tilewright::topi
