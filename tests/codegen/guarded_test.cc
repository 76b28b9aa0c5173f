#include "tilewright/codegen/llvm/guarded.h"

#include <gtest/gtest.h>

#include <new>
#include <string>
#include <thread>

#include "tilewright/support/error.h"

namespace tilewright::codegen {
namespace {

// Throws as operator new does where there is no memory.
void run_out_of_memory() {
  std::get_new_handler()();
  FAIL() << "the handler came back";
}

// A thread has machines of its own, which are forgotten, not freed, when its memory runs out: those that
// other tests have made in this thread would be leaks.
template <class Body>
void in_new_thread(const Body& body) {
  std::thread(body).join();
}

struct Counted {
  explicit Counted(int* count) : count(count) {}
  ~Counted() { ++*count; }
  int* count;
};

TEST(Guarded, GivesWhatTheBodyGives) {
  EXPECT_EQ(guarded([] { return std::string("text"); }), "text");
  int calls = 0;
  guarded([&] { ++calls; });
  EXPECT_EQ(calls, 1);
}

TEST(Guarded, WhatTheBodyThrowsComesThrough) {
  int destroyed = 0;
  EXPECT_THROW(guarded([&] {
                 const Counted counted(&destroyed);
                 throw UserError("wrong");
               }),
               UserError);
  EXPECT_EQ(destroyed, 1);
}

TEST(Guarded, MemoryThatRunsOutEndsTheBodyWithoutDestructors) {
  int destroyed = 0;
  in_new_thread([&] {
    for (int n = 0; n < 3; ++n) {
      EXPECT_THROW(guarded([&] {
                     const Counted counted(&destroyed);
                     run_out_of_memory();
                   }),
                   std::bad_alloc);
    }
  });
  EXPECT_EQ(destroyed, 0);
}

TEST(Guarded, TheInnermostBodyIsLeft) {
  int destroyed = 0;
  in_new_thread([&] {
    guarded([&] {
      const Counted counted(&destroyed);
      EXPECT_THROW(guarded(run_out_of_memory), std::bad_alloc);
    });
  });
  EXPECT_EQ(destroyed, 1);
}

TEST(Guarded, OutsideOfABodyMemoryThatRunsOutIsThrown) {
  in_new_thread([] {
    guarded([] {});  // sets the handler
    EXPECT_THROW(run_out_of_memory(), std::bad_alloc);
  });
}

}  // namespace
}  // namespace tilewright::codegen
