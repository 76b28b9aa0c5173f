// Comparisons.  build_compare.cc first brings sums to one side and removes common factors, low digits and
// constant divisors; `x < y` stands for y - x - 1 >= 0, `x == y` for x - y == 0.
#include "tilewright/arith/rule.h"

namespace tilewright::arith {
namespace {
using namespace pattern;

constexpr Rule kTable[] = {
    rule(min(x, y) < x, y < x),
    rule(min(x, y) == x, x <= y),
    rule(x < max(x, y), x < y),
    rule(max(x, y) == x, y <= x),
    rule(x <= min(x, y), x <= y),
    rule(max(x, y) <= x, y <= x),
    rule(min(x, c) < d, x < d, c >= d),
    rule(min(x, c) <= d, x <= d, c > d),
    rule(d <= max(x, c), d <= x, c < d),
    rule(max(x, c) <= d, x <= d, c <= d),
    rule(d <= min(x, c), d <= x, d <= c),
    rule(min(x, c) == d, x == d, c > d),
    rule(max(x, c) == d, x == d, c < d),
    rule(max(x, c) == c, x <= c),
    rule(min(x, c) == c, c <= x),
    rule(select(p, c, d) == e, p, c == e && (d < e || d > e)),
    rule(select(p, c, d) == e, !p, d == e && (c < e || c > e)),
};
}  // namespace

extern constinit const RuleTable kCompareRules = kTable;
}  // namespace tilewright::arith
