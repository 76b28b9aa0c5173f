// Sums of two terms with equal coefficients.  build_sum.cc joins the digits of a number (x // c * c + x % c).
#include "tilewright/arith/rule.h"

namespace tilewright::arith {
namespace {
using namespace pattern;

constexpr Rule kTable[] = {
    rule(min(x, y) + max(x, y), x + y),
    rule(select(p, x, y) + select(p, z, w), select(p, x + z, y + w)),
    rule(x / 2 + x % 2, (x + 1) / 2),
    rule(x / 2 + (x + 1) / 2, x),
};
}  // namespace

extern constinit const RuleTable kAddRules = kTable;
}  // namespace tilewright::arith
