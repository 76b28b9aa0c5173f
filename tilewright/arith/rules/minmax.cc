// min and max.  build_minmax.cc handles differences with a known sign, common summands and common factors
// first.
#include "tilewright/arith/rule.h"

namespace tilewright::arith {
namespace {
using namespace pattern;

constexpr Rule kTable[] = {
    // an operand that occurs twice
    rule(min(min(x, y), x), min(x, y)),
    rule(max(max(x, y), x), max(x, y)),
    rule(min(max(x, y), x), x),
    rule(max(min(x, y), x), x),
    rule(min(max(x, y), min(x, y)), min(x, y)),
    rule(max(max(x, y), min(x, y)), max(x, y)),
    rule(min(max(x, y), min(x, z)), min(x, z)),
    rule(max(min(x, y), max(x, z)), max(x, z)),
    rule(min(min(x, y), min(x, z)), min(min(y, z), x)),
    rule(max(max(x, y), max(x, z)), max(max(y, z), x)),
    rule(min(max(x, y), max(x, z)), max(min(y, z), x)),
    rule(max(min(x, y), min(x, z)), min(max(y, z), x)),
    // constants
    rule(min(min(x, c), d), min(x, c), c <= d),
    rule(min(min(x, c), d), min(x, d), d <= c),
    rule(max(max(x, c), d), max(x, c), c >= d),
    rule(max(max(x, c), d), max(x, d), d >= c),
    rule(min(max(x, c), d), d, c >= d),
    rule(max(min(x, c), d), d, c <= d),
    rule(min(min(x, c), y), min(min(x, y), c)),  // constants move outwards, so that two of them meet
    rule(max(max(x, c), y), max(max(x, y), c)),
    // the same shifted
    rule(min(min(x + c, y), x), min(x, y), c >= 0),
    rule(min(min(x + c, y), x), min(x + c, y), c <= 0),
    rule(max(max(x + c, y), x), max(x, y), c <= 0),
    rule(max(max(x + c, y), x), max(x + c, y), c >= 0),
    rule(max(min(x + c, y), x), x, c <= 0),
    rule(min(max(x + c, y), x), x, c >= 0),
    // division is monotone
    rule(min(x / c, y / c), min(x, y) / c, c > 0),
    rule(max(x / c, y / c), max(x, y) / c, c > 0),
    rule(min(x / c, y / c), max(x, y) / c, c < 0),
    rule(max(x / c, y / c), min(x, y) / c, c < 0),
    // select with a common condition
    rule(min(select(p, x, y), select(p, z, w)), select(p, min(x, z), min(y, w))),
    rule(max(select(p, x, y), select(p, z, w)), select(p, max(x, z), max(y, w))),
};
}  // namespace

extern constinit const RuleTable kMinMaxRules = kTable;
}  // namespace tilewright::arith
