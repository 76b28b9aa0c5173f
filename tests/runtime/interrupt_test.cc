#include "tilewright/runtime/interrupt.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tilewright/runtime/thread_pool.h"

namespace tilewright::runtime {
namespace {

std::atomic<bool> is_asked{false};
std::thread::id asked_thread;

// Only one thread of a program hears Ctrl-C.
void throw_if_asked() {
  if (is_asked && std::this_thread::get_id() == asked_thread) throw std::runtime_error("interrupted");
}

class Interrupt : public testing::Test {
 protected:
  void SetUp() override {
    is_asked = false;
    asked_thread = std::this_thread::get_id();
    set_interrupt_check(&throw_if_asked);
  }
  void TearDown() override { set_interrupt_check(nullptr); }
  ThreadScope threads_{4};
};

TEST_F(Interrupt, EachIterationRunsOnce) {
  std::vector<std::atomic<int>> counts(127);
  interruptible_for(127, [&](int64_t n) { ++counts[static_cast<size_t>(n)]; });
  for (const std::atomic<int>& count : counts) EXPECT_EQ(count, 1);
  interruptible_for(0, [](int64_t) { FAIL(); });
}

TEST_F(Interrupt, WhatIsThrownFirstIsRaisedAndNoMoreBegin) {
  std::atomic<int> num_begun = 0;
  EXPECT_THROW(interruptible_for(100'000,
                                 [&](int64_t n) {
                                   ++num_begun;
                                   if (n == 5) throw std::invalid_argument("five");
                                 }),
               std::invalid_argument);
  EXPECT_LT(num_begun, 100'000);
}

TEST_F(Interrupt, TheCallerThatWaitsStopsTheOthers) {
  std::atomic<bool> has_caller_ended = false, has_other_begun = false;
  EXPECT_THROW(interruptible_for(4,
                                 [&](int64_t) {
                                   if (std::this_thread::get_id() == asked_thread) {
                                     while (!has_other_begun) std::this_thread::yield();
                                     has_caller_ended = true;
                                     return;
                                   }
                                   has_other_begun = true;
                                   while (!has_caller_ended) std::this_thread::yield();
                                   is_asked = true;
                                   while (true) check_interrupt();
                                 }),
               std::runtime_error);
}

TEST_F(Interrupt, ALoopInALoopEndsWithTheOuterOne) {
  EXPECT_THROW(interruptible_for(2,
                                 [&](int64_t outer) {
                                   if (outer == 1) throw std::invalid_argument("one");
                                   while (true) interruptible_for(2, [](int64_t) { check_interrupt(); });
                                 }),
               std::invalid_argument);
}

}  // namespace
}  // namespace tilewright::runtime
