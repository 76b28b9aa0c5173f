#include "tilewright/analysis/interpreter/fibers.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace tilewright::analysis {
namespace {

TEST(Fibers, TakeTurns) {
  Fibers fibers(3);
  std::string order;
  fibers.start([&](size_t n) {
    order += static_cast<char>('a' + n);
    fibers.pause();
    order += static_cast<char>('A' + n);
  });
  for (int round = 0; round < 2; ++round) {
    for (const size_t n : {2, 0, 1}) fibers.resume(n);
  }
  EXPECT_EQ(order, "cabCAB");
  EXPECT_TRUE(fibers.has_ended(0) && fibers.has_ended(1) && fibers.has_ended(2));
}

TEST(Fibers, StartAgain) {
  Fibers fibers(2);
  int sum = 0;
  for (int run = 0; run < 100; ++run) {
    fibers.start([&](size_t n) {
      std::vector<int> own(1000, static_cast<int>(n));
      fibers.pause();
      for (const int value : own) sum += value;
    });
    for (size_t n : {0, 1, 1, 0}) fibers.resume(n);
  }
  EXPECT_EQ(sum, 100'000);
}

TEST(Fibers, WhatOneThrowsReachesTheCaller) {
  Fibers fibers(2);
  fibers.start([&](size_t n) {
    fibers.pause();
    if (n == 1) throw std::runtime_error("of fiber 1");
  });
  fibers.resume(0);
  fibers.resume(1);
  try {
    fibers.resume(1);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "of fiber 1");
  }
  EXPECT_TRUE(fibers.has_ended(1));
  EXPECT_FALSE(fibers.has_ended(0));
}

TEST(Fibers, ThoseThatWaitAreUnwound) {
  struct Count {
    int* left;
    explicit Count(int* left) : left(left) { ++*left; }
    ~Count() { --*left; }
  };
  int left = 0;
  {
    Fibers fibers(3);
    fibers.start([&](size_t) {
      const Count count(&left);
      fibers.pause();
    });
    fibers.resume(0);
    fibers.resume(2);
    EXPECT_EQ(left, 2);
  }
  EXPECT_EQ(left, 0);
}

TEST(Fibers, AThousandWithDeepCalls) {
  Fibers fibers(1024);
  std::vector<int> depth(1024, 0);
  const std::function<int(int)> nested = [&](int n) {
    if (n == 0) fibers.pause();
    return n == 0 ? 0 : 1 + nested(n - 1);
  };
  fibers.start([&](size_t n) { depth[n] = nested(100); });
  for (int round = 0; round < 2; ++round) {
    for (size_t n = 0; n < fibers.size(); ++n) fibers.resume(n);
  }
  EXPECT_EQ(depth, std::vector<int>(1024, 100));
}

}  // namespace
}  // namespace tilewright::analysis
