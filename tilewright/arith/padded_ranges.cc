// Pads loops to a multiple of the period of the digits in indices, for layouts that need padding.
#include <numeric>

#include "tilewright/arith/iter_map.h"
#include "tilewright/ir/walk.h"
#include "tilewright/tir/builder.h"

namespace tilewright::arith {
namespace {

// Longer periods are ignored.
constexpr int64_t kMaxPeriod = 1 << 20;

// The period of the digits of `var` in an index: 8 for (i // 4) % 2, 1 if the index only adds and multiplies.
int64_t period_of(const PrimExpr& index, const VarNode* var) {
  int64_t period = 1;
  const auto meet = [&](const PrimExpr& dividend, const PrimExpr& divisor) {
    int64_t value = 0;
    bool uses_var = false;
    walk(dividend, [&](const VarNode* used) { uses_var = uses_var || used == var; });
    if (uses_var && as_const_int(divisor, &value) && value > 0 && value <= kMaxPeriod / period)
      period *= value;
  };
  walk(
      index, [&](const FloorDivNode* op) { meet(op->a, op->b); },
      [&](const FloorModNode* op) { meet(op->a, op->b); });
  return period;
}

}  // namespace

IterRanges padded_ranges(const IterRanges& ranges, const std::vector<PrimExpr>& indices) {
  IterRanges result;
  for (const auto& [var, range] : ranges) {
    int64_t period = 1;
    // both are below 2^21, so the least common multiple does not overflow
    for (const PrimExpr& index : indices)
      period = std::min(std::lcm(period, period_of(index, var.get())), kMaxPeriod);
    const PrimExpr unit = make_const_int(var->dtype, period);
    result.emplace_back(var, make_range(range->min, simplify(ceildiv(range->extent, unit) * unit)));
  }
  return result;
}

}  // namespace tilewright::arith
