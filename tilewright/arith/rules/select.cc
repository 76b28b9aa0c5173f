// select(condition, value if true, value if false).
#include "tilewright/arith/rule.h"

namespace tilewright::arith {
namespace {
using namespace pattern;

constexpr Rule kTable[] = {
    rule(select(x < y, x, y), min(x, y)),
    rule(select(x < y, y, x), max(x, y)),
    rule(select(x <= y, x, y), min(x, y)),
    rule(select(x <= y, y, x), max(x, y)),
    rule(select(x == y, x, y), y),
    rule(select(x == y, y, x), x),
    rule(select(p, select(p, x, y), z), select(p, x, z)),
    rule(select(p, x, select(p, y, z)), select(p, x, z)),
    rule(select(p, select(q, x, y), y), select(p&& q, x, y)),
    rule(select(p, x, select(q, x, y)), select(p || q, x, y)),
};
}  // namespace

extern constinit const RuleTable kSelectRules = kTable;
}  // namespace tilewright::arith
