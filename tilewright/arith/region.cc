// Buffer regions: intervals, dimension by dimension.
#include <algorithm>

#include "tilewright/arith/int_set.h"
#include "tilewright/tir/builder.h"

namespace tilewright::arith {
namespace {

template <class F>
IntervalRegion by_dimension(const IntervalRegion& a, const IntervalRegion& b, F combine) {
  TILEWRIGHT_CHECK(a.size() == b.size(), "regions of {} and {} dimensions", a.size(), b.size());
  IntervalRegion result;
  for (size_t n = 0; n < a.size(); ++n) result.push_back(combine(a[n], b[n]));
  return result;
}

}  // namespace

IntervalRegion eval_region(const Region& region, const Domains& domains, Analyzer& analyzer) {
  IntervalRegion result;
  for (const Range& range : region) {
    Interval first = eval_interval(range->min, domains, analyzer);
    if (is_one(range->extent)) {
      result.push_back(first);
      continue;
    }
    const Interval last = eval_interval(range->min + range->extent - 1, domains, analyzer);
    result.push_back({first.min, last.max});
  }
  return result;
}

IntervalRegion hull(const IntervalRegion& a, const IntervalRegion& b, Analyzer& analyzer) {
  return by_dimension(a, b, [&](const Interval& x, const Interval& y) { return hull(x, y, analyzer); });
}

IntervalRegion intersect(const IntervalRegion& a, const IntervalRegion& b, Analyzer& analyzer) {
  return by_dimension(a, b, [&](const Interval& x, const Interval& y) { return intersect(x, y, analyzer); });
}

bool covers(const IntervalRegion& outer, const IntervalRegion& inner, Analyzer& analyzer) {
  TILEWRIGHT_CHECK(outer.size() == inner.size(), "regions of {} and {} dimensions", outer.size(),
                   inner.size());
  if (std::any_of(inner.begin(), inner.end(), [&](const Interval& set) { return is_empty(set, analyzer); }))
    return true;
  for (size_t n = 0; n < outer.size(); ++n) {
    if (!covers(outer[n], inner[n], analyzer)) return false;
  }
  return true;
}

bool covers(const Region& outer, const Region& inner, Analyzer& analyzer) {
  return covers(to_intervals(outer), to_intervals(inner), analyzer);
}

bool are_disjoint(const IntervalRegion& a, const IntervalRegion& b, Analyzer& analyzer) {
  TILEWRIGHT_CHECK(a.size() == b.size(), "regions of {} and {} dimensions", a.size(), b.size());
  for (size_t n = 0; n < a.size(); ++n) {
    if (are_disjoint(a[n], b[n], analyzer)) return true;
  }
  return false;
}

IntervalRegion to_intervals(const Region& region) {
  IntervalRegion result;
  for (const Range& range : region) result.push_back(Interval::of(range));
  return result;
}

Region to_region(const IntervalRegion& region, const std::vector<PrimExpr>& shape, Analyzer& analyzer) {
  TILEWRIGHT_CHECK(region.size() == shape.size(), "a region of {} dimensions of a buffer of {}",
                   region.size(), shape.size());
  Region result;
  for (size_t n = 0; n < shape.size(); ++n) {
    const Interval whole{make_const_int(shape[n]->dtype, 0), shape[n] - 1};
    const Interval inside = intersect(region[n], whole, analyzer);
    const bool is_all =
        analyzer.can_prove_equal(inside.min, whole.min) && analyzer.can_prove_equal(inside.max, whole.max);
    result.push_back(is_all ? make_range(whole.min, shape[n])
                            : make_range(inside.min, *extent(inside, analyzer)));
  }
  return result;
}

}  // namespace tilewright::arith
