// Every rewrite rule by brute force: where the guard holds both sides are equal, and the right side costs no
// more.
#include <gtest/gtest.h>

#include "fuzz.h"
#include "tilewright/arith/rule.h"

namespace tilewright::fuzz {
using namespace arith;

const std::vector<std::pair<std::string, RuleTable>> kTables = {
    {"add", kAddRules},       {"sub", kSubRules},         {"mul", kMulRules},       {"divmod", kDivModRules},
    {"minmax", kMinMaxRules}, {"compare", kCompareRules}, {"select", kSelectRules}, {"logic", kLogicRules}};

// Small numbers make coincidences likely, large ones find what holds only near zero.
PatternValues random_values(Random& random) {
  PatternValues values;
  const int64_t limit = random.pick(std::vector<int64_t>{2, 5, 20, 1000, int64_t{1} << 20, int64_t{1} << 30});
  for (int64_t& value : values.vars) value = random.between(-limit, limit);
  for (int64_t& value : values.consts) value = random.between(-limit, limit);
  for (int64_t& value : values.conditions) value = random.between(0, 1);
  return values;
}

TEST(ArithRules, BothSidesAreEqual) {
  Random random(seed());
  const int64_t wanted = num_cases(4000);
  for (const auto& [name, table] : kTables) {
    for (const Rule& rule : table) {
      int64_t checked = 0;
      for (int64_t n = 0; n < wanted; ++n) {
        const PatternValues values = random_values(random);
        if (!rule.guard.empty() && arith::evaluate(rule.guard, values).value_or(0) == 0) continue;
        const auto left = arith::evaluate(rule.left, values);
        if (!left) continue;
        ++checked;
        ASSERT_EQ(left, arith::evaluate(rule.right, values))
            << name << ": " << to_string(rule) << "\n  x, y, z, w = " << values.vars[0] << ", "
            << values.vars[1] << ", " << values.vars[2] << ", " << values.vars[3]
            << "  c, d, e = " << values.consts[0] << ", " << values.consts[1] << ", " << values.consts[2]
            << "  p, q, r = " << values.conditions[0] << values.conditions[1] << values.conditions[2];
      }
      EXPECT_GT(checked, wanted / 50) << "hardly ever applies: " << to_string(rule);
    }
  }
}

// The operations that remain: constants are folded.
int cost(const Pattern& pattern) {
  int total = 0;
  for (size_t n = 0; n < pattern.size; ++n) {
    const PatternNode& node = pattern.nodes[n];
    const bool is_folded = node.op >= PatternNode::kAdd && node.op <= PatternNode::kMax &&
                           pattern.nodes[node.a].op == PatternNode::kConst &&
                           pattern.nodes[node.b].op == PatternNode::kConst;
    const bool is_division = node.op == PatternNode::kFloorDiv || node.op == PatternNode::kFloorMod;
    if (node.op >= PatternNode::kAdd && !is_folded) total += is_division ? 3 : 1;
  }
  return total;
}

TEST(ArithRules, TheRightSideCostsNoMore) {
  for (const auto& [name, table] : kTables) {
    for (const Rule& rule : table)
      EXPECT_LE(cost(rule.right), cost(rule.left)) << name << ": " << to_string(rule);
  }
}

}  // namespace tilewright::fuzz
