// An index that threads have different values of; what is claimed is counted.
#include "tilewright/lower/common/thread_digits.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/tir/builder.h"

namespace tilewright::lower {
namespace {

const Var kThread = make_var("t"), kOther = make_var("u"), kLoop = make_var("i"), kSecond = make_var("j"),
          kBlock = make_var("b");

arith::IterRanges ranges(const std::vector<std::pair<Var, int64_t>>& extents) {
  arith::IterRanges found;
  for (const auto& [var, extent] : extents) found.emplace_back(var, make_range(imm(0), imm(extent)));
  return found;
}

bool tells(const PrimExpr& index, int64_t threads, int64_t iterations, const PrimExpr& condition = {}) {
  return tells_threads(index, condition, ranges({{kThread, threads}}), ranges({{kLoop, iterations}}));
}

TEST(ThreadDigits, AVectorOfEachThread) {
  EXPECT_TRUE(tells(kThread * 4 + kLoop, 32, 4));
  EXPECT_FALSE(tells(kThread * 4 + kLoop, 32, 5));
  EXPECT_TRUE(tells(kLoop * 32 + kThread, 32, 4));
  EXPECT_FALSE(tells(kLoop * 31 + kThread, 32, 4));
}

TEST(ThreadDigits, WhatIsTheSameForAllChangesNothing) {
  EXPECT_TRUE(tells(kBlock * 7 + kThread, 32, 4));
  EXPECT_FALSE(tells(kBlock * 7 + kLoop, 32, 4));
}

TEST(ThreadDigits, EveryDigitIsNeeded) {
  EXPECT_TRUE(tells(floordiv(kThread, 4) * 4 + floormod(kThread, 4), 32, 1));
  EXPECT_FALSE(tells(floordiv(kThread, 4) * 4, 32, 1));
  EXPECT_TRUE(tells(floordiv(kThread, 4) * 4, 32, 1, floormod(kThread, 4) < 1));
  EXPECT_TRUE(tells(kLoop, 32, 4, equal(kThread, imm(3))));
  EXPECT_FALSE(tells(kLoop, 32, 4));
}

TEST(ThreadDigits, AConditionOnOneDigit) {
  const PrimExpr index = floordiv(kThread, 3) * 4 + floormod(kThread, 3) * 2 + kLoop;
  EXPECT_TRUE(tells(index, 12, 2, floormod(kThread, 3) < 2));
  EXPECT_TRUE(tells(index, 12, 2, floormod(kThread, 3) <= 1));
  EXPECT_FALSE(tells(index, 12, 2));
}

// rows of 3 elements, of which a thread has two and the last one: t // 2 * 2 + i is the column
TEST(ThreadDigits, AConditionOnSeveralDigits) {
  const PrimExpr column = floormod(kThread, 2) * 2 + kLoop, index = floordiv(kThread, 2) * 3 + column;
  EXPECT_TRUE(tells(index, 8, 2, column < 3));
  EXPECT_FALSE(tells(index, 8, 2, column < 4));
  EXPECT_FALSE(tells(index, 8, 2));
}

// t % 16 * 3 is t // 4 % 4 * 12 and t % 4 * 3, where a condition cuts it
TEST(ThreadDigits, DigitsAreCutAsFineAsConditionsCutThem) {
  const PrimExpr index = floordiv(kThread, 16) * 16 + kSecond * 4 + floormod(kThread, 16) * 3 + kLoop;
  const PrimExpr rows = floormod(floordiv(kThread, 4), 4) * 3 + kSecond < 4,
                 columns = floormod(kThread, 4) * 3 + kLoop < 4;
  const auto holds = [&](const PrimExpr& condition) {
    return tells_threads(index, condition, ranges({{kThread, 32}}), ranges({{kSecond, 3}, {kLoop, 3}}));
  };
  EXPECT_TRUE(holds(logical_and(rows, columns)));
  EXPECT_FALSE(holds(columns));
}

TEST(ThreadDigits, TwoAxes) {
  const auto holds = [&](const PrimExpr& index) {
    return tells_threads(index, {}, ranges({{kOther, 4}, {kThread, 8}}), {});
  };
  EXPECT_TRUE(holds(kOther * 8 + kThread));
  EXPECT_TRUE(holds(kThread * 4 - kOther));
  EXPECT_FALSE(holds(kOther * 7 + kThread));
  EXPECT_FALSE(holds(kThread));
}

TEST(ThreadDigits, NothingIsKnownOfProductsAndOfCutsThatDoNotMatch) {
  EXPECT_FALSE(tells(kThread * kLoop, 4, 1));
  EXPECT_FALSE(tells(floordiv(kThread, 3) * 8 + floormod(kThread, 4), 12, 1));
}

// ---- random indices: no claim is wrong

int64_t value_of(const PrimExpr& expr, int64_t thread, int64_t i, int64_t j) {
  int64_t value = -1;
  const PrimExpr number = arith::Analyzer().simplify(substitute(expr, {{kThread.get(), PrimExpr(imm(thread))},
                                                                       {kLoop.get(), PrimExpr(imm(i))},
                                                                       {kSecond.get(), PrimExpr(imm(j))}}));
  EXPECT_TRUE(as_const_int(number, &value)) << "no number";
  return value;
}

TEST(ThreadDigits, RandomClaimsAreTrue) {
  std::mt19937 random(7);
  const auto pick = [&](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
  };
  int claims = 0;
  for (int round = 0; round < 400; ++round) {
    const int64_t low = pick(2, 4), threads = low * pick(1, 4), first = pick(1, 3), second = pick(1, 3);
    const PrimExpr a = floormod(kThread, low) * pick(1, 3) + kLoop * pick(1, 2),
                   b = floordiv(kThread, low) * pick(1, 3) + kSecond * pick(1, 2);
    const PrimExpr index = b * pick(1, 6) + a;
    PrimExpr condition = a < pick(1, 6);
    if (pick(0, 1)) condition = logical_and(condition, b < pick(1, 4));
    if (!tells_threads(index, condition, ranges({{kThread, threads}}),
                       ranges({{kLoop, first}, {kSecond, second}})))
      continue;
    ++claims;
    std::map<int64_t, int64_t> owner;
    for (int64_t t = 0; t < threads; ++t) {
      for (int64_t i = 0; i < first; ++i) {
        for (int64_t j = 0; j < second; ++j) {
          if (value_of(condition, t, i, j) == 0) continue;
          const auto [known, is_new] = owner.try_emplace(value_of(index, t, i, j), t);
          EXPECT_TRUE(is_new || known->second == t) << "threads " << known->second << " and " << t;
        }
      }
    }
  }
  EXPECT_GT(claims, 50);
}

}  // namespace
}  // namespace tilewright::lower
