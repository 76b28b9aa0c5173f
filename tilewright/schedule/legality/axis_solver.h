// The values of a block's axes that make it touch, or stay inside of, a given region.
#pragma once
#include "tilewright/arith/int_set.h"
#include "tilewright/schedule/core/state.h"

namespace tilewright::schedule {

/// A block accesses [index, index + extent) in one dimension; `target` is the interval in question.
struct AxisConstraint {
  PrimExpr index, extent;
  arith::Interval target;
};

enum class AxisGoal {
  kTouch,   // all axis values whose access meets the target (perhaps more)
  kInside,  // only axis values whose access lies in the target (perhaps fewer)
};

/// One interval per axis, unbounded where the constraints say nothing.  Understands sums of multiples of axes
/// and floor divisions of them; with several axes in one index only the one of the largest step is bounded.
std::vector<arith::Interval> solve_axes(const std::vector<IterVar>& axes,
                                        const std::vector<AxisConstraint>& constraints, AxisGoal goal,
                                        arith::Analyzer& analyzer);

/// A block run over intervals of its axes: loops, axis values and the guard that keeps them in their domains.
struct AxisNest {
  std::vector<std::pair<Var, PrimExpr>> loops;  // variable and extent, outermost first
  std::vector<PrimExpr> values;
  PrimExpr predicate;

  /// Adds a condition to the predicate.
  void require(const PrimExpr& condition);
};

/// Loops ax0, ax1, ... over `intervals`, cut to `domains`.  An axis of one value gets no loop unless
/// `keep_unit_loops`.
AxisNest make_nest(const std::vector<IterVar>& axes, const std::vector<arith::Interval>& intervals,
                   const std::vector<Range>& domains, bool keep_unit_loops, arith::Analyzer& analyzer);

}  // namespace tilewright::schedule
