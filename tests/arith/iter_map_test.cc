// Iterator maps: normal forms, bijectivity, inverses, tiles.
#include "tilewright/arith/iter_map.h"

#include <gtest/gtest.h>

#include "show.h"
#include "tilewright/tir/builder.h"

namespace tilewright::arith_test {
using namespace tir;
using namespace arith;

struct IterMapTest : testing::Test {
  Var i = make_var("i"), j = make_var("j"), k = make_var("k"), f = make_var("f"), n = make_var("n"),
      m = make_var("m");
  Analyzer analyzer;
  static Range upto(int64_t extent) { return make_range(imm(0), imm(extent)); }
  static Range upto(const Var& extent) { return make_range(imm(0), extent); }

  std::string reason(const std::vector<PrimExpr>& bindings, const IterRanges& ranges,
                     PrimExpr predicate = nullptr, IterMapLevel level = IterMapLevel::kBijective) {
    return detect_iter_map(bindings, ranges, predicate, level, analyzer).reason;
  }
  std::string inverse(const std::vector<PrimExpr>& bindings, const IterRanges& ranges,
                      PrimExpr predicate = nullptr) {
    const IterMap map = detect_iter_map(bindings, ranges, predicate, IterMapLevel::kBijective, analyzer);
    if (!map) return map.reason;
    std::vector<PrimExpr> outputs;
    for (size_t n = 0; n < bindings.size(); ++n) outputs.push_back(make_var("y" + std::to_string(n)));
    std::string text;
    for (const auto& [var, value] : inverse_affine_iter_map(map, outputs, analyzer))
      text += var->name_hint + " = " + show(value) + "; ";
    return text;
  }
  std::string divide(const std::vector<PrimExpr>& bindings, const IterRanges& ranges,
                     const std::vector<Var>& sub, PrimExpr predicate = nullptr) {
    const SubspaceDivision division = subspace_divide(bindings, ranges, sub, predicate, analyzer);
    if (!division) return division.reason;
    std::string text;
    for (const DividedBinding& b : division.bindings)
      text += show(b.outer) + " of " + show(b.outer_extent) + ", " + show(b.inner) + " of " +
              show(b.inner_extent) + "; ";
    return text + show(division.outer_predicate) + ", " + show(division.inner_predicate);
  }
};

TEST_F(IterMapTest, LoopsAreBijective) {
  EXPECT_EQ(reason({i, j}, {{i, upto(5)}, {j, upto(7)}}), "");
  EXPECT_EQ(reason({j, i}, {{i, upto(5)}, {j, upto(7)}}), "");
}

TEST_F(IterMapTest, SplitAndFusedLoopsAreBijective) {
  EXPECT_EQ(reason({i * 7 + j}, {{i, upto(5)}, {j, upto(7)}}), "");
  EXPECT_EQ(reason({floordiv(f, 7), floormod(f, 7)}, {{f, upto(35)}}), "");
  EXPECT_EQ(reason({floordiv(f, 12), floormod(floordiv(f, 4), 3), floormod(f, 4)}, {{f, upto(60)}}), "");
  EXPECT_EQ(reason({floordiv(i * 3 + j, 4), floormod(i * 3 + j, 4)}, {{i, upto(4)}, {j, upto(3)}}), "");
}

TEST_F(IterMapTest, SymbolicExtents) {
  EXPECT_EQ(reason({i * m + j}, {{i, upto(n)}, {j, upto(m)}}), "");
  auto scope = analyzer.assume(m >= 1);
  EXPECT_EQ(reason({floordiv(f, m), floormod(f, m)}, {{f, make_range(imm(0), n * m)}}), "");
}

TEST_F(IterMapTest, PredicatesCutFusedLoops) {
  EXPECT_EQ(reason({i * 4 + j}, {{i, upto(32)}, {j, upto(4)}}, i * 4 + j < 127), "");
  EXPECT_EQ(reason({i, j}, {{i, upto(32)}, {j, upto(4)}}, i * 4 + j < 127),
            "the predicate restricts loops in a way that no index shows");
  EXPECT_EQ(reason({i * 4 + j, k}, {{i, upto(32)}, {j, upto(4)}, {k, upto(8)}},
                   logical_and(i * 4 + j < 127, k < 5)),
            "");
}

TEST_F(IterMapTest, WhatIsNotBijective) {
  EXPECT_EQ(reason({i}, {{i, upto(5)}, {j, upto(7)}}), "no index uses loop j");
  EXPECT_EQ(reason({i, i}, {{i, upto(5)}}), "the indices use parts of loop i twice or not at all");
  EXPECT_EQ(reason({floordiv(f, 3)}, {{f, upto(9)}}), "the indices use parts of loop f twice or not at all");
  EXPECT_EQ(reason({i + j}, {{i, upto(5)}, {j, upto(7)}}),
            "index 0 is not quasi-affine: its strides leave gaps or overlap");
  EXPECT_EQ(reason({i * 2}, {{i, upto(5)}}), "index 0 is not quasi-affine: its values leave gaps");
  EXPECT_EQ(reason({floordiv(f, 3), floormod(f, 3)}, {{f, upto(10)}}),
            "index 0 is not quasi-affine: it divides a loop whose extent is not a multiple of the divisor");
  EXPECT_EQ(reason({PrimExpr(i) * j}, {{i, upto(5)}, {j, upto(7)}}),
            "index 0 is not quasi-affine: it multiplies loop variables");
}

TEST_F(IterMapTest, Levels) {
  EXPECT_EQ(reason({i}, {{i, upto(5)}, {j, upto(7)}}, nullptr, IterMapLevel::kSurjective), "");
  EXPECT_EQ(reason({i * 8 + j}, {{i, upto(5)}, {j, upto(7)}}, nullptr, IterMapLevel::kInjective), "");
  EXPECT_EQ(reason({i * 6 + j}, {{i, upto(5)}, {j, upto(7)}}, nullptr, IterMapLevel::kInjective),
            "index 0 is not quasi-affine: its strides leave gaps or overlap");
}

TEST_F(IterMapTest, PredicateMakesItInjective) {
  // 7 rows in strips of 3: the third strip has one
  const PrimExpr row = floordiv(f, 3) * 7 + floormod(f, 3) * 3 + i;
  const IterRanges ranges = {{f, upto(6)}, {i, upto(3)}};
  EXPECT_EQ(reason({row}, ranges, floormod(f, 3) * 3 + i < 7, IterMapLevel::kInjective), "");
  const std::string overlap = "index 0 is not quasi-affine: its strides leave gaps or overlap";
  EXPECT_EQ(reason({row}, ranges, floormod(f, 3) * 3 + i < 8, IterMapLevel::kInjective), overlap);
  EXPECT_EQ(reason({row}, ranges, nullptr, IterMapLevel::kInjective), overlap);
}

TEST_F(IterMapTest, Inverses) {
  EXPECT_EQ(inverse({j, i}, {{i, upto(5)}, {j, upto(7)}}), "i = y1; j = y0; ");
  EXPECT_EQ(inverse({i * 7 + j}, {{i, upto(5)}, {j, upto(7)}}), "i = y0 // 7; j = y0 % 7; ");
  EXPECT_EQ(inverse({floordiv(f, 7), floormod(f, 7)}, {{f, upto(35)}}), "f = y0 * 7 + y1; ");
  EXPECT_EQ(inverse({i + 3}, {{i, upto(5)}}), "i = y0 - 3; ");
  EXPECT_EQ(inverse({i - 2}, {{i, make_range(imm(2), imm(5))}}), "i = y0 + 2; ");
}

TEST_F(IterMapTest, Tiles) {
  EXPECT_EQ(divide({i * 16 + j}, {{i, upto(8)}, {j, upto(16)}}, {j}), "i of 8, j of 16; True, True");
  EXPECT_EQ(divide({i, j}, {{i, upto(8)}, {j, upto(16)}}, {j}),
            "i of 8, 0 of 1; 0 of 1, j of 16; True, True");
  EXPECT_EQ(divide({(i * 4 + j) * 16 + k}, {{i, upto(8)}, {j, upto(4)}, {k, upto(16)}}, {k}),
            "i * 4 + j of 32, k of 16; True, True");
  EXPECT_EQ(divide({i + j * 8}, {{i, upto(8)}, {j, upto(16)}}, {j}),
            "the loops of the tile are not its innermost part (in i + j * 8)");
  EXPECT_EQ(divide({i * 16 + j}, {{i, upto(8)}, {j, upto(16)}}, {j}, i * 16 + j < 127),
            "the predicate mixes loops of the tile with others");
  EXPECT_EQ(divide({i * 16 + j}, {{i, upto(8)}, {j, upto(16)}}, {j}, i < 7), "i of 7, j of 16; i < 7, True");
}

TEST_F(IterMapTest, Normalized) {
  auto text = [&](PrimExpr expr) {
    return show(normalize({expr}, {{i, upto(8)}, {j, upto(4)}}, nullptr, analyzer)[0]);
  };
  EXPECT_EQ(text(floordiv(i * 4 + j, 8) * 2 + floormod(floordiv(i * 4 + j, 4), 2)), "i");
  EXPECT_EQ(text(i + 3 - i), "3");
}

}  // namespace tilewright::arith_test
