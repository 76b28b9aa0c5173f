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

TEST_F(Simplify, WhatIsSimpleStaysTheSameObject) {
  bind(i, 8), bind(j, 4);
  PrimExpr expr = i * 4 + j;
  EXPECT_EQ(analyzer.simplify(expr), expr);
}

TEST_F(Simplify, VectorsOfIndices) {
  PrimExpr lanes = RampNode::make(imm(0), imm(1), int64_t{4});
  EXPECT_EQ(simple(BroadcastNode::make(PrimExpr(i) * 4, int64_t{4}) + lanes), "ramp(i * 4, 1, 4)");
  EXPECT_EQ(simple(floordiv(PrimExpr(RampNode::make(PrimExpr(i) * 8, imm(1), int64_t{4})), 4)), "broadcast(i * 2, 4)");
}

}  // namespace tilewright::arith_test
