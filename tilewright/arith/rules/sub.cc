// Differences of two terms with equal coefficients.  build_sum.cc cancels against min and max.
#include "tilewright/arith/rule.h"

namespace tilewright::arith {
namespace {
using namespace pattern;

constexpr Rule kTable[] = {
    // extents of tiles: the difference of two quotients needs only the remainder
    rule((x + c) / d - x / d, (x % d + c) / d, d > 0),
    rule(select(p, x, y) - select(p, z, w), select(p, x - z, y - w)),
};
}  // namespace

extern constinit const RuleTable kSubRules = kTable;
}  // namespace tilewright::arith
