// Products of two terms, neither of which is a constant or a small sum.
#include "tilewright/arith/rule.h"

namespace tilewright::arith {
namespace {
using namespace pattern;

constexpr Rule kTable[] = {
    rule(min(x, y) * max(x, y), x* y),
    rule(select(p, 0, x) * y, select(p, 0, x* y)),
    rule(select(p, x, 0) * y, select(p, x* y, 0)),
    rule(select(p, 1, x) * y, select(p, y, x* y)),
    rule(select(p, x, 1) * y, select(p, x* y, y)),
};
}  // namespace

extern constinit const RuleTable kMulRules = kTable;
}  // namespace tilewright::arith
