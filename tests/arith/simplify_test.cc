// Simplification of expressions: what a person would write.
#include <gtest/gtest.h>

#include "show.h"
#include "tilewright/arith/analyzer.h"
#include "tilewright/tir/builder.h"

namespace tilewright::arith_test {
using namespace tir;
using arith::Analyzer;

struct Simplify : testing::Test {
  Var i = make_var("i"), j = make_var("j"), k = make_var("k"), n = make_var("n"), m = make_var("m");
  Analyzer analyzer;

  void bind(const Var& var, int64_t extent) { analyzer.bind(var, make_range(imm(0), imm(extent))); }
  void bind(const Var& var, const PrimExpr& extent) { analyzer.bind(var, make_range(imm(0), extent)); }
  std::string simple(const PrimExpr& expr) { return show(analyzer.simplify(expr)); }
};

TEST_F(Simplify, LikeTermsAreCollected) {
  EXPECT_EQ(simple(i + j + i * 3 - j), "i * 4");
  EXPECT_EQ(simple(i + 5 - (i - 7)), "12");
  EXPECT_EQ(simple((i + j) * 4 - i * 4), "j * 4");
  EXPECT_EQ(simple(i - j), "i - j");
  EXPECT_EQ(simple(imm(0) - i), "0 - i");
  EXPECT_EQ(simple(imm(7) - i), "7 - i");
}

TEST_F(Simplify, ATermTwiceIsItsProductByTwo) {
  EXPECT_EQ(simple(i + i), "i * 2");
  EXPECT_EQ(simple(i + j + i), "i * 2 + j");
  EXPECT_EQ(simple(n * m + n * m), "n * m * 2");
  EXPECT_EQ(simple((i + j) * 2), "(i + j) * 2");
}

TEST_F(Simplify, LargeStridesComeFirst) { EXPECT_EQ(simple(j + i * 4 + k * 128), "k * 128 + i * 4 + j"); }

TEST_F(Simplify, SplitsOfAFusedLoopAreJoined) {
  EXPECT_EQ(simple(floordiv(i, 4) * 4 + floormod(i, 4)), "i");
  EXPECT_EQ(simple(floordiv(i, 12) * 12 + floormod(floordiv(i, 4), 3) * 4 + floormod(i, 4)), "i");
  EXPECT_EQ(simple(floormod(floordiv(i, 4), 3) * 4 + floormod(i, 4)), "i % 12");
  EXPECT_EQ(simple(floordiv(i, n) * n + floormod(i, n)), "i");
  EXPECT_EQ(simple(floordiv(i + 3, 4) * 8 + floormod(i + 3, 4) * 2), "i * 2 + 6");
}

TEST_F(Simplify, DivisionByAConstantDividesTheTermsItCan) {
  bind(j, 4);
  EXPECT_EQ(simple(floordiv(i * 4 + j, 4)), "i");
  EXPECT_EQ(simple(floormod(i * 4 + j, 4)), "j");
  EXPECT_EQ(simple(floordiv(i * 4 + j, 8)), "i // 2");
  EXPECT_EQ(simple(floormod(i * 4 + j, 8)), "i % 2 * 4 + j");
  EXPECT_EQ(simple(floordiv(floordiv(i, 3), 5)), "i // 15");
  EXPECT_EQ(simple(floordiv(floormod(i, 12), 4)), "i // 4 % 3");
  EXPECT_EQ(simple(floordiv(n + 4, 4)), "n // 4 + 1");
  EXPECT_EQ(simple(floordiv(n + 3, 4)), "(n + 3) // 4");
  EXPECT_EQ(simple(floordiv(n - 1, 4)), "(n - 1) // 4");
}

TEST_F(Simplify, NestedSplits) {
  bind(i, 2), bind(j, 3), bind(k, 5);
  PrimExpr fused = (i * 3 + j) * 5 + k;
  EXPECT_EQ(simple(floordiv(fused, 15)), "i");
  EXPECT_EQ(simple(floormod(floordiv(fused, 5), 3)), "j");
  EXPECT_EQ(simple(floormod(fused, 5)), "k");
}

TEST_F(Simplify, SymbolicExtents) {
  bind(i, n), bind(j, m);
  EXPECT_EQ(simple(i < n), "True");
  EXPECT_EQ(simple(i >= n), "False");
  EXPECT_EQ(simple(i * m + j < n * m), "True");
  EXPECT_EQ(simple(floordiv(i * m + j, m)), "i");
  EXPECT_EQ(simple(floormod(i * m + j, m)), "j");
  EXPECT_EQ(simple(min(i, n)), "i");
  EXPECT_EQ(simple(n > 0), "True");
  EXPECT_EQ(simple(floordiv(i * 4 + 3, n * 4)), "0");
}

TEST_F(Simplify, TilesOfSymbolicLoops) {
  bind(i, floordiv(n + 3, 4)), bind(j, 4);
  EXPECT_EQ(simple(n > 0), "True");
  EXPECT_EQ(simple(i * 4 < n), "True");
  EXPECT_EQ(simple(i * 4 + j < n), "i * 4 + j < n");
  EXPECT_EQ(simple(i * 4 + j < n + 3), "True");
  EXPECT_EQ(simple(min(i * 4 + 4, n) - i * 4 > 0), "True");
}

TEST_F(Simplify, MinAndMax) {
  bind(i, 8);
  EXPECT_EQ(simple(min(i, imm(7))), "i");
  EXPECT_EQ(simple(max(i, imm(9))), "9");
  EXPECT_EQ(simple(min(n, n + 4)), "n");
  EXPECT_EQ(simple(min(i * 4 + 4, n) - i * 4), "min(n - i * 4, 4)");
  EXPECT_EQ(simple(min(n + 4, m + 4)), "min(n, m) + 4");
  EXPECT_EQ(simple(max(min(n, m), n)), "n");
  EXPECT_EQ(simple(min(n, m) + max(n, m)), "n + m");
  EXPECT_EQ(simple(min(n * 4, m * 4)), "min(n, m) * 4");
}

TEST_F(Simplify, Comparisons) {
  bind(i, 32), bind(j, 4);
  EXPECT_EQ(simple(i * 4 + j < 126), "i * 4 + j < 126");
  EXPECT_EQ(simple(i * 4 + j < 124), "i < 31");
  EXPECT_EQ(simple(i * 4 + j < 128), "True");
  EXPECT_EQ(simple(i * 4 + j < n * 4), "i < n");
  EXPECT_EQ(simple(i * 4 < n * 4 + 4), "i <= n");
  EXPECT_EQ(simple(equal(i * 4, imm(2))), "False");
  EXPECT_EQ(simple(floordiv(n, 4) < 3), "n < 12");
  EXPECT_EQ(simple(i < floordiv(n + 3, 4)), "i * 4 < n");
  EXPECT_EQ(simple(logical_not(n < m)), "m <= n");
  EXPECT_EQ(simple(not_equal(n, imm(3))), "n != 3");
}

TEST_F(Simplify, ConditionsUseEachOther) {
  EXPECT_EQ(simple(logical_and(n < 5, n < 7)), "n < 5");
  EXPECT_EQ(simple(logical_and(n < 7, n < 5)), "n < 5");
  EXPECT_EQ(simple(logical_and(n < 5, n > 7)), "False");
  EXPECT_EQ(simple(logical_or(n < 5, n >= 5)), "True");
  EXPECT_EQ(simple(select(n < m, n, m)), "min(n, m)");
  EXPECT_EQ(simple(select(n < 5, min(n, imm(5)), imm(0))), "select(n < 5, n, 0)");
  // literals of the values are bool though the condition compares integers
  const Var p = make_var("p", kBoolType);
  const PrimExpr joined =
      analyzer.simplify(select(n < 5, select(p, logical_not(p), bool_imm(true)), bool_imm(true)));
  EXPECT_EQ(joined.as<SelectNode>()->false_value->dtype, kBoolType);
}

TEST_F(Simplify, AssumptionsEndWithTheirScope) {
  {
    auto scope = analyzer.assume(logical_and(n >= 0, n < 5));
    EXPECT_EQ(simple(n < 5), "True");
    EXPECT_EQ(simple(floordiv(n, 5)), "0");
  }
  EXPECT_EQ(simple(n < 5), "n < 5");
  auto scope = analyzer.assume(equal(floormod(n, 4), imm(0)));
  EXPECT_EQ(simple(floordiv(n, 4) * 4), "n");
  EXPECT_EQ(simple(floormod(n + 3, 4)), "3");
}

TEST_F(Simplify, SymbolicProductsAreFactored) {
  EXPECT_EQ(simple((PrimExpr(i) * m + j) * n + k), "(i * m + j) * n + k");
  EXPECT_EQ(simple(PrimExpr(i) * n + PrimExpr(j) * n), "(i + j) * n");
  EXPECT_EQ(simple(PrimExpr(i) * n + n + 3), "(i + 1) * n + 3");
  EXPECT_EQ(simple(PrimExpr(n) * m - PrimExpr(i) * m), "(n - i) * m");
}

// Both values of a Select are computed, so neither may come to rely on the condition when it could fail
// elsewhere.
TEST_F(Simplify, AccessesAreNotFreedOfTheirGuards) {
  Buffer buffer = make_buffer("A", {n}, kInt32);
  bind(i, 100);
  auto clamped = [&](PrimExpr condition) {
    return select(condition, load(buffer, {min(i, imm(7))}), imm(0));
  };
  EXPECT_EQ(simple(clamped(i < 8)), "select(i < 8, A[min(i, 7)], 0)");
  EXPECT_EQ(simple(call(kInt32, "if_then_else", {i < 8, load(buffer, {min(i, imm(7))}), imm(0)})),
            "if_then_else(i < 8, A[i], 0)");
  EXPECT_EQ(simple(select(i > 0, floordiv(n, max(i, imm(1))), imm(0))), "select(i >= 1, n // max(i, 1), 0)");
}

TEST_F(Simplify, CallsWithEffectsAreNeitherDroppedNorRepeated) {
  PrimExpr effect = call(kInt32, "call_extern", {string_imm("f")});
  EXPECT_EQ(simple(MulNode::make(AddNode::make(effect, i + 1 - i), imm(0))), "(call_extern(?) + 1) * 0");
}

TEST_F(Simplify, ConstantsThatDoNotFitStay) {
  PrimExpr large = imm(INT32_MAX);
  EXPECT_EQ(simple(AddNode::make(AddNode::make(i, large), large)), "i + 2147483647 + 2147483647");
  EXPECT_EQ(simple(AddNode::make(i, large) - large), "i");
  PrimExpr huge = imm(INT64_MAX, kInt64);
  EXPECT_EQ(simple(AddNode::make(huge, huge)), "9223372036854775807 + 9223372036854775807");
  EXPECT_EQ(simple(floordiv(i, 0)), "i // 0");
}

TEST_F(Simplify, OtherIntegerTypesWrap) {
  Var byte = make_var("b", DataType::uint(8));
  EXPECT_EQ(simple(PrimExpr(byte) + 1 < PrimExpr(byte)), "b + 1 < b");
  EXPECT_EQ(simple(cast(kInt32, byte) < 256), "True");
}

// ---- nothing is deep, long or shared enough to hang or crash

TEST_F(Simplify, LongSums) {
  PrimExpr total = i;
  for (int count = 0; count < 20000; ++count)
    total = AddNode::make(total, count % 2 ? PrimExpr(i) : PrimExpr(j));
  EXPECT_EQ(simple(total), "i * 10001 + j * 10000");
  std::vector<Var> vars;
  total = imm(0);
  for (int count = 0; count < 10000; ++count)
    total = AddNode::make(total, floormod(vars.emplace_back(make_var("v")), 4));
  EXPECT_TRUE(analyzer.can_prove(analyzer.simplify(total) >= 0));
}

TEST_F(Simplify, SharedSums) {
  PrimExpr total = i;
  for (int count = 0; count < 30; ++count) total = AddNode::make(total, total);
  EXPECT_EQ(simple(total), "i * 1073741824");
  PrimExpr nested = i;
  for (int count = 0; count < 60; ++count)
    nested = MinNode::make(AddNode::make(nested, nested), floordiv(nested, 3));
  analyzer.simplify(nested);
}

// An expression that is kept as it is (100 levels down, or with a constant beyond its dtype) has no parts.
TEST_F(Simplify, BoundsOfWhatIsKept) {
  for (const Kind kind : {Kind::kDiv, Kind::kMod}) {
    PrimExpr deep = i;
    for (int count = 0; count < 120; ++count) deep = make_binary(kind, deep, j);
    EXPECT_EQ(Analyzer().const_bounds(deep), arith::ConstBounds());
  }
  PrimExpr wide = i;
  for (int count = 0; count < 120; ++count) wide = cast(count % 2 ? kInt32 : kInt64, wide + j);
  EXPECT_EQ(Analyzer().const_bounds(wide), arith::ConstBounds());
  const auto scope = analyzer.assume(equal(k, imm(-1)));
  EXPECT_FALSE(analyzer.can_prove(cast(kInt64, floordiv(i, k)) <= imm(INT32_MIN, kInt64)));
  EXPECT_FALSE(analyzer.can_prove(equal(floordiv(i, k), imm(INT32_MIN))));
}

TEST_F(Simplify, DeepExpressions) {
  const std::vector<Kind> kinds = {Kind::kMin, Kind::kFloorDiv, Kind::kFloorMod, Kind::kMul, Kind::kSub};
  for (const Kind kind : kinds) {
    PrimExpr deep = i;
    for (int count = 0; count < 20000; ++count) deep = make_binary(kind, imm(count % 5 + 1), deep);
    analyzer.simplify(deep);
    deep = i;
    for (int count = 0; count < 20000; ++count)
      deep = make_binary(kind, deep, count % 2 ? PrimExpr(j) : imm(count + 1));
    analyzer.simplify(deep);
  }
  PrimExpr condition = i < 1;
  for (int count = 0; count < 20000; ++count)
    condition = AndNode::make(condition, (count % 2 ? i : j) < count + 2);
  analyzer.simplify(condition);
  PrimExpr choice = i;
  for (int count = 0; count < 20000; ++count) choice = SelectNode::make(i < count, choice, j);
  analyzer.simplify(choice);
}

TEST_F(Simplify, WhatIsSimpleStaysTheSameObject) {
  bind(i, 8), bind(j, 4);
  PrimExpr expr = i * 4 + j;
  EXPECT_EQ(analyzer.simplify(expr), expr);
}

TEST_F(Simplify, VectorsOfIndices) {
  PrimExpr lanes = RampNode::make(imm(0), imm(1), int64_t{4});
  EXPECT_EQ(simple(BroadcastNode::make(PrimExpr(i) * 4, int64_t{4}) + lanes), "ramp(i * 4, 1, 4)");
  EXPECT_EQ(simple(floordiv(PrimExpr(RampNode::make(PrimExpr(i) * 8, imm(1), int64_t{4})), 4)),
            "broadcast(i * 2, 4)");
}

}  // namespace tilewright::arith_test
