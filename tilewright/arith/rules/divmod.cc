// Floor division and remainder by something that is not a constant, or of what is not a sum.
// Constant divisors of sums are handled in build_divmod.cc.
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
