// Floor division and remainder with a divisor that is not a constant, or a dividend that is not a sum.
// build_divmod.cc handles constant divisors of sums.
#include "tilewright/arith/rule.h"

namespace tilewright::arith {
namespace {
using namespace pattern;

constexpr Rule kTable[] = {
    rule((x % y) / y, 0),
    rule((x % y) % y, x % y),
    rule((x * y) / (z * y), x / z),
    rule((x * y) % (z * y), (x % z) * y),
    rule((x / y) / z, x / (y * z), z > 0),
};
}  // namespace

extern constinit const RuleTable kDivModRules = kTable;
}  // namespace tilewright::arith
