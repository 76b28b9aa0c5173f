// Sets of integers that an expression or a buffer access may take while some of its variables run over their
// domains.
#pragma once
#include <optional>
#include <unordered_map>

#include "tilewright/arith/analyzer.h"

namespace tilewright::arith {

/// All integers from min to max inclusive; null means no bound on that side.  Empty if max < min.
struct Interval {
  PrimExpr min, max;
  bool is_bounded() const { return min && max; }
  static Interval everything() { return {}; }
  static Interval point(PrimExpr value) { return {value, value}; }
  static Interval of(const Range& range);
};

/// The variables to eliminate and their values.  A domain may use variables without a domain.
using Domains = std::unordered_map<const VarNode*, Interval>;
/// One Range per dimension of a buffer, as in tir::BufferRegion.
using Region = std::vector<Range>;
/// A region whose dimensions may be unbounded.
using IntervalRegion = std::vector<Interval>;

/// The interval of `expr` over all values of the variables of `domains`; min and max do not use those
/// variables.
Interval eval_interval(const PrimExpr& expr, const Domains& domains, Analyzer& analyzer);

/// The smallest interval found that contains both.  If neither order of two ends can be proved, the end is a
/// min() or max().
Interval hull(const Interval& a, const Interval& b, Analyzer& analyzer);
/// An interval that contains the intersection.
Interval intersect(const Interval& a, const Interval& b, Analyzer& analyzer);
/// True only if every value of `inner` is in `outer`.
bool covers(const Interval& outer, const Interval& inner, Analyzer& analyzer);
/// True only if no integer is in both.
bool are_disjoint(const Interval& a, const Interval& b, Analyzer& analyzer);
/// True only if the set has no value.
bool is_empty(const Interval& set, Analyzer& analyzer);
/// The simplified max - min + 1; nullopt if unbounded.
std::optional<PrimExpr> extent(const Interval& set, Analyzer& analyzer);

/// The values of `var` for which `condition` surely holds, for all values of the variables of `domains`.
/// Nullopt unless it is a conjunction of comparisons that are linear in `var`.
std::optional<Interval> deduce_bound(const Var& var, const PrimExpr& condition, const Domains& domains,
                                     Analyzer& analyzer);

/// All elements that `region` touches while the variables of `domains` run, dimension by dimension.
/// `analyzer` may assume conditions under which the access happens; bounds on the variables that follow from
/// them are used.
IntervalRegion eval_region(const Region& region, const Domains& domains, Analyzer& analyzer);
IntervalRegion hull(const IntervalRegion& a, const IntervalRegion& b, Analyzer& analyzer);
IntervalRegion intersect(const IntervalRegion& a, const IntervalRegion& b, Analyzer& analyzer);
/// True only if every element of `inner` is in `outer`.
bool covers(const IntervalRegion& outer, const IntervalRegion& inner, Analyzer& analyzer);
bool covers(const Region& outer, const Region& inner, Analyzer& analyzer);
/// True only if the two have no element in common.
bool are_disjoint(const IntervalRegion& a, const IntervalRegion& b, Analyzer& analyzer);

IntervalRegion to_intervals(const Region& region);
/// The set as ranges, clipped to a buffer of `shape`; an unbounded side becomes the buffer's.
Region to_region(const IntervalRegion& region, const std::vector<PrimExpr>& shape, Analyzer& analyzer);

/// The domains of loop variables, from their ranges.
Domains domains_of(const std::vector<std::pair<Var, Range>>& ranges);

}  // namespace tilewright::arith
