#include "tilewright/schedule/legality/digits.h"

#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

// The indices of an access to one element, with what is left of the last one without its lanes: i * 4 + lane.
struct Digits {
  std::vector<PrimExpr> indices, counts;
};

// The number that follows from the indices of dimensions `first` to `last`, whatever m and n are: f of
// [f // (m * n), f // n % m, f % n], as of one loop that was made of several, or f // 4 of [f // (m * 4), f // 4 % m].
// The places of digits are the extents of the buffer.  Null if there is none.
PrimExpr number_of_digits(const Digits& digits, size_t first, size_t last, arith::Analyzer& analyzer) {
  const auto* top = digits.indices[first].as<FloorDivNode>();
  if (!top) return nullptr;
  PrimExpr places = digits.counts[last];
  for (size_t n = last - 1; n > first; --n) places = digits.counts[n] * places;
  const PrimExpr below = analyzer.simplify(floordiv(top->b, places));  // 4: digits that other indices have
  if (!is<IntImmNode>(below) || !analyzer.can_prove_equal(places * below, top->b)) return nullptr;
  const PrimExpr number = analyzer.simplify(floordiv(top->a, below));
  PrimExpr place = make_const_int(number->dtype, 1);
  for (size_t n = last; n > first; --n) {
    const PrimExpr &index = digits.indices[n], &count = digits.counts[n];
    // f // 4 % m and f % (m * 4) // 4 are one digit
    const bool is_digit = analyzer.can_prove_equal(index, floormod(floordiv(number, place), count)) ||
                          analyzer.can_prove_equal(index, floordiv(floormod(top->a, count * place * below),
                                                                   analyzer.simplify(place * below)));
    if (!is_digit) return nullptr;
    place = analyzer.simplify(count * place);
  }
  return number;
}

}  // namespace

std::vector<PrimExpr> points_of(const Access& access) {
  std::vector<PrimExpr> indices;
  for (const Range& range : access.region) {
    if (!is_one(range->extent)) return {};
    indices.push_back(range->min);
  }
  return indices;
}

PrimExpr flat_index(const std::vector<PrimExpr>& points, const std::vector<PrimExpr>& counts,
                    arith::Analyzer& analyzer) {
  if (points.size() != counts.size()) return nullptr;
  PrimExpr index = imm(0);
  for (size_t n = 0; n < points.size(); ++n) {
    if (n > 0 && !is<IntImmNode>(counts[n])) return nullptr;
    index = index * counts[n] + points[n];
  }
  return analyzer.simplify(index);
}

std::vector<PrimExpr> indices_without_digits(const std::vector<PrimExpr>& points,
                                             const std::vector<PrimExpr>& counts, arith::Analyzer& analyzer) {
  const size_t ndim = points.size();
  Digits whole{{}, counts};
  for (const PrimExpr& point : points) whole.indices.push_back(analyzer.simplify(point));
  for (size_t first = 0; first < ndim; ++first) {
    for (size_t last = ndim - 1; last > first; --last) {
      for (const int64_t lanes : {1, 2, 4, 8, 16}) {
        int64_t count;
        const bool is_divided = as_const_int(whole.counts[last], &count) && count % lanes == 0;
        if (lanes > 1 && !is_divided) continue;
        Digits digits = whole;
        if (lanes > 1) {
          digits.indices[last] = analyzer.simplify(floordiv(whole.indices[last], lanes));
          digits.counts[last] = make_const_int(whole.counts[last]->dtype, count / lanes);
        }
        const PrimExpr number = number_of_digits(digits, first, last, analyzer);
        if (!number) continue;
        std::vector<PrimExpr> indices = {number};
        if (lanes > 1) indices.push_back(analyzer.simplify(floormod(whole.indices[last], lanes)));
        for (size_t n = 0; n < ndim; ++n) {
          if (n < first || n > last) indices.push_back(whole.indices[n]);
        }
        return indices;
      }
    }
  }
  return {};
}

std::vector<PrimExpr> indices_without_scattered_digits(const std::vector<PrimExpr>& points,
                                                       const std::vector<PrimExpr>& counts,
                                                       arith::Analyzer& analyzer) {
  for (size_t first = 0; first < points.size(); ++first) {
    const auto* top = points[first].as<FloorDivNode>();
    if (!top) continue;
    PrimExpr place = make_const_int(top->dtype, 1);
    std::vector<PrimExpr> indices = {top->a};
    for (size_t n = points.size(); n-- > 0;) {
      const PrimExpr &index = points[n], &count = counts[n];
      if (n > first && analyzer.can_prove_equal(index, floormod(floordiv(top->a, place), count)))
        place = analyzer.simplify(count * place);
      else if (n != first)
        indices.push_back(index);
    }
    if (analyzer.can_prove_equal(top->b, place)) return indices;
  }
  return {};
}

BoxOfNumber number_of_box(const arith::IntervalRegion& box, const std::vector<PrimExpr>& counts,
                          arith::Analyzer& analyzer) {
  Digits digits{{}, counts};
  for (const arith::Interval& side : box) {
    const bool is_point = side.is_bounded() && analyzer.can_prove_equal(side.min, side.max);
    digits.indices.push_back(is_point ? analyzer.simplify(side.min) : PrimExpr());
  }
  for (size_t first = 0; first < box.size(); ++first) {
    size_t end = first;
    while (end < box.size() && digits.indices[end]) ++end;
    for (size_t last = end; last-- > first + 1;) {
      BoxOfNumber found{number_of_digits(digits, first, last, analyzer)};
      if (!found.number) continue;
      for (size_t n = 0; n < box.size(); ++n) {
        if (n < first || n > last) found.others.push_back(box[n]);
      }
      return found;
    }
  }
  return {};
}

}  // namespace tilewright::schedule
