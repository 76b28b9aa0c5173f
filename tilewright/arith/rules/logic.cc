// and, or, not.  `and` and `or` match as written: their right side may be defined only where it is evaluated.
// Bounds that one side implies for the other are used earlier (import.cc simplifies the right side under the
// left).
#include "tilewright/arith/rule.h"

namespace tilewright::arith {
namespace {
using namespace pattern;

constexpr Rule kTable[] = {
    rule((p && q) && p, p&& q),
    rule((p && q) && q, p&& q),
    rule((p || q) || p, p || q),
    rule((p || q) || q, p || q),
    rule(p && (p || q), p),
    rule(p || (p && q), p),
    rule((p && q) || (p && r), p && (q || r)),
    rule((p || q) && (p || r), p || (q && r)),
    rule(x <= y && y <= x, x == y),
    rule(x < y || y < x, !(x == y)),
    rule(x < y || x == y, x <= y),
    rule(x == y || x < y, x <= y),
    rule(x < c && x < d, x < c, c <= d),
    rule(x < c && x < d, x < d, d <= c),
    rule(c < x && d < x, c < x, c >= d),
    rule(c < x && d < x, d < x, d >= c),
    rule(x < c || x < d, x < d, c <= d),
    rule(x < c || x < d, x < c, d <= c),
    rule(c < x || d < x, d < x, c >= d),
    rule(c < x || d < x, c < x, d >= c),
};
}  // namespace

extern constinit const RuleTable kLogicRules = kTable;
}  // namespace tilewright::arith
