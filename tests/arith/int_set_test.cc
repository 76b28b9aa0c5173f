// Intervals and regions.
#include <gtest/gtest.h>

#include "show.h"
#include "tilewright/arith/int_set.h"
#include "tilewright/tir/builder.h"

namespace tilewright::arith_test {
using namespace tir;
using namespace arith;

struct IntSet : testing::Test {
  Var i = make_var("i"), j = make_var("j"), k = make_var("k"), n = make_var("n");
  Analyzer analyzer;
  Domains domains{{i.get(), {imm(0), imm(31)}}, {j.get(), {imm(0), imm(3)}}};

  std::string text(const Interval& set) {
    return "[" + (set.min ? show(set.min) : "-inf") + ", " + (set.max ? show(set.max) : "inf") + "]";
  }
  std::string interval(const PrimExpr& expr) { return text(eval_interval(expr, domains, analyzer)); }
  std::string region(const Region& ranges) {
    std::string result;
    for (const Interval& set : eval_region(ranges, domains, analyzer)) result += text(set);
    return result;
  }
};

TEST_F(IntSet, AffineExpressions) {
  EXPECT_EQ(interval(i * 4 + j), "[0, 127]");
  EXPECT_EQ(interval(k * 4 + j), "[k * 4, k * 4 + 3]");
  EXPECT_EQ(interval(imm(31) - i), "[0, 31]");
  EXPECT_EQ(interval(floordiv(i, 4) * 4 + floormod(i, 4)), "[0, 31]");
  EXPECT_EQ(interval(PrimExpr(k)), "[k, k]");
}

TEST_F(IntSet, DivisionAndRemainder) {
  EXPECT_EQ(interval(floordiv(i, 5)), "[0, 6]");
  EXPECT_EQ(interval(floormod(i, 5)), "[0, 4]");
  EXPECT_EQ(interval(floormod(j, 5)), "[0, 3]");
  EXPECT_EQ(interval(floordiv(k * 8 + j, 4)), "[k * 2, k * 2]");
}

TEST_F(IntSet, MinMaxAndSelect) {
  EXPECT_EQ(interval(min(i, n)), "[min(n, 0), min(n, 31)]");
  EXPECT_EQ(interval(max(i - 5, imm(0))), "[0, 26]");
  EXPECT_EQ(interval(select(i < 8, i, imm(7))), "[0, 7]");
}

TEST_F(IntSet, PredicatesBound) {
  auto scope = analyzer.assume(i * 4 + j < 126);
  EXPECT_EQ(interval(i * 4 + j), "[0, 125]");
}

TEST_F(IntSet, PredicatesBoundOneTile) {
  auto scope = analyzer.assume(k * 4 + j < 126);
  EXPECT_EQ(interval(k * 4 + j), "[k * 4, min(k * 4 + 3, 125)]");
}

TEST_F(IntSet, SymbolicPredicatesBound) {
  auto positive = analyzer.assume(n >= 1);
  auto scope = analyzer.assume(i * 4 + j < n);
  EXPECT_EQ(interval(i * 4 + j), "[0, min(n - 1, 127)]");
}

TEST_F(IntSet, DomainsMayUseDomains) {
  domains[j.get()] = {imm(0), i};
  EXPECT_EQ(interval(j + k), "[k, k + 31]");
}

TEST_F(IntSet, TilesOfAConvolution) {
  // rows k * 8 + i * 2 + j of an input, i over 4 outputs, j over 3 taps
  domains[i.get()] = {imm(0), imm(3)};
  domains[j.get()] = {imm(0), imm(2)};
  EXPECT_EQ(region({make_range(k * 8 + i * 2 + j, imm(1))}), "[k * 8, k * 8 + 8]");
}

TEST_F(IntSet, Covering) {
  const Interval tile{k * 8, k * 8 + 8};
  EXPECT_TRUE(covers(tile, {k * 8 + 1, k * 8 + 8}, analyzer));
  EXPECT_FALSE(covers(tile, {k * 8 + 1, k * 8 + 9}, analyzer));
  EXPECT_TRUE(are_disjoint(tile, {k * 8 + 9, k * 8 + 16}, analyzer));
  EXPECT_TRUE(covers(Interval::everything(), tile, analyzer));
  EXPECT_FALSE(covers(tile, Interval::everything(), analyzer));
}

TEST_F(IntSet, BoundsAreDeduced) {
  auto bound = [&](const PrimExpr& condition) {
    const auto set = deduce_bound(k, condition, domains, analyzer);
    return set ? text(*set) : "none";
  };
  EXPECT_EQ(bound(k * 4 + j < 126), "[-inf, 30]");
  EXPECT_EQ(bound(k * 4 - j >= 5), "[2, inf]");
  EXPECT_EQ(bound(logical_and(k >= n, k * 2 < n + 7)), "[n, n // 2 + 3]");
  EXPECT_EQ(bound(equal(k, n + 1)), "[n + 1, n + 1]");
  EXPECT_EQ(bound(equal(k, j)), "none");
  EXPECT_EQ(bound(PrimExpr(k) * k < 9), "none");
  EXPECT_EQ(bound(j < 4), "[-inf, inf]");
  EXPECT_EQ(bound(j < 3), "none");
}

TEST_F(IntSet, LongSumsAreNotDeep) {
  PrimExpr total = k;
  for (int count = 0; count < 5000; ++count) total = AddNode::make(total, PrimExpr(i) * (count % 7));
  EXPECT_EQ(interval(total), "[k, k + 464845]");
}

TEST_F(IntSet, RegionsAreCutToTheBuffer) {
  analyzer.bind(k, make_range(imm(0), imm(4)));
  const Region cut = to_region({{k * 8 - 1, k * 8 + 8}, {nullptr, imm(3)}}, {imm(32), n}, analyzer);
  EXPECT_EQ(show(cut[0]->min), "max(k * 8 - 1, 0)");
  EXPECT_EQ(show(cut[1]->min), "0");
}

}  // namespace tilewright::arith_test
