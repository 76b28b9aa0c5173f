// Indices that are the digits of one number, [f // (m * n), f // n % m, f % n], as those of one loop that was made of
// several: the number follows from them, whatever m and n are.
#pragma once
#include "tilewright/arith/int_set.h"
#include "tilewright/schedule/core/access.h"

namespace tilewright::schedule {

/// The indices of an access to one element; empty of any other.
std::vector<PrimExpr> points_of(const Access& access);
/// The place of an element in memory, of a buffer of which only the first extent may be open; null of any other, and
/// without points.
PrimExpr flat_index(const std::vector<PrimExpr>& points, const std::vector<PrimExpr>& counts,
                    arith::Analyzer& analyzer);

/// `points` with the number in the place of neighbouring digits of it; empty if there are none.  Lanes of the last one
/// stay: [f // m, f % m * 4 + lane] becomes [f, lane].
///
/// counts  the extents of the dimensions, which are the places of digits
std::vector<PrimExpr> indices_without_digits(const std::vector<PrimExpr>& points,
                                             const std::vector<PrimExpr>& counts, arith::Analyzer& analyzer);
/// The same where other indices stand between the digits: v of [v // 81, w, v // 9 % 9, v % 9].
std::vector<PrimExpr> indices_without_scattered_digits(const std::vector<PrimExpr>& points,
                                                       const std::vector<PrimExpr>& counts,
                                                       arith::Analyzer& analyzer);

/// A box without the neighbouring dimensions in which it is one element wide, and the number whose digits these are.
struct BoxOfNumber {
  PrimExpr number;  // null if there are none
  arith::IntervalRegion others = {};
};
BoxOfNumber number_of_box(const arith::IntervalRegion& box, const std::vector<PrimExpr>& counts,
                          arith::Analyzer& analyzer);

}  // namespace tilewright::schedule
