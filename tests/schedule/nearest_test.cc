// A call that a refusal offers is accepted.
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

constexpr std::string_view kProduct = R"(
    @T.prim_func
    def main(A: T.Buffer((4, 5)), B: T.Buffer((5, 7)), D: T.Buffer((4, 7))):
        C = T.alloc_buffer((4, 7))
        for i, j, k in T.grid(4, 7, 5):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
        for x, y in T.grid(4, 7):
            with T.block("D"):
                vx, vy = T.axis.remap("SS", [x, y])
                D[vx, vy] = T.max(C[vx, vy], T.float32(0))
)";

constexpr std::string_view kStencil = R"(
    @T.prim_func
    def main(A: T.Buffer((9,)), C: T.Buffer((7,))):
        B = T.alloc_buffer((9,))
        for i in range(9):
            with T.block("B"):
                vi = T.axis.spatial(9, i)
                B[vi] = A[vi] * T.float32(2)
        for i in range(7):
            with T.block("C"):
                vi = T.axis.spatial(7, i)
                C[vi] = B[vi] + B[vi + 1] + B[vi + 2]
)";

LoopRef loop_of(Schedule& sch, const char* block, size_t n) {
  return sch.call("get_loops", block).loops()[n];
}

std::string help_of(std::string_view program, const Steps& steps) {
  Schedule schedule(module_of(program), {.seed = 1, .verify_steps = true});
  try {
    steps(schedule);
  } catch (const Error& error) {
    return error.help_text();
  }
  return "no error";
}

TEST(NearestLegalCalls, SumsAreMovedWhereTheyCannotBeInlined) {
  EXPECT_EQ(help_of(kProduct, [](Schedule& sch) { sch.call("compute_inline", "C"); }),
            "compute_at(block C, loop y) would be legal");
  EXPECT_EQ(help_of(kProduct, [](Schedule& sch) { sch.call("reverse_compute_inline", "D"); }),
            "reverse_compute_at(block D, loop j) would be legal");
}

TEST(NearestLegalCalls, OutputsMoveToTheirProducers) {
  EXPECT_EQ(help_of(kProduct, [](Schedule& sch) { sch.call("compute_at", "D", loop_of(sch, "C", 0)); }),
            "reverse_compute_at(block D, loop j) would be legal");
}

TEST(NearestLegalCalls, TheOtherWayRound) {
  check_refused(
      kStencil, [](Schedule& sch) { sch.call("reverse_compute_at", "C", loop_of(sch, "B", 0)); }, R"(
    error: reverse_compute_at: one iteration of loop i writes too little for any value of axis vi of block C
      f.py:9:14
       8 |     for i in range(7):
       9 |         with T.block("C"):
         |              ^^^^^^^^^^^^
      10 |             vi = T.axis.spatial(7, i)
    note: block C at i=0 reads B[0], written at i=0, and B[1], written at i=1
    help: compute_at(block B, loop i around block C) would be legal
  )");
}

TEST(NearestLegalCalls, LoopsThatAddUpAreNotWhereResultsAreRead) {
  check_refused(
      kProduct, [](Schedule& sch) { sch.call("reverse_compute_at", "D", loop_of(sch, "C", 2)); }, R"(
    error: reverse_compute_at: loop k adds up in block C, which has finished what block D reads only at its end
      f.py:4:5
       3 |     C = T.alloc_buffer((4, 7))
       4 |     for i, j, k in T.grid(4, 7, 5):
         |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
       5 |         with T.block("C"):
    help: reverse_compute_at(block D, loop j) or compute_at(block C, loop y) would be legal
  )");
}

TEST(NearestLegalCalls, LoopsOfAnotherOrder) {
  EXPECT_EQ(help_of(kProduct,
                    [](Schedule& sch) {
                      sch.call("fuse", ArgValue::List{loop_of(sch, "C", 2), loop_of(sch, "C", 0)});
                    }),
            "fuse(loop i, loop j, loop k) would be legal");
  EXPECT_EQ(help_of(kProduct,
                    [](Schedule& sch) {
                      sch.call("fuse", ArgValue::List{loop_of(sch, "C", 0), loop_of(sch, "D", 0)});
                    }),
            "");
}

TEST(NearestLegalCalls, AnOrderWithFewerLoopsSwapped) {
  // A[i + 1, j, k] is read at j + 1: i stays outside of j, k is free
  EXPECT_EQ(help_of(R"(
    @T.prim_func
    def main(A: T.Buffer((4, 5, 3))):
        for i, j, k in T.grid(3, 4, 3):
            with T.block("S"):
                vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                A[vi + 1, vj, vk] = A[vi, vj + 1, vk] + T.float32(1)
  )",
                    [](Schedule& sch) {
                      sch.call("reorder", ArgValue::List{loop_of(sch, "S", 2), loop_of(sch, "S", 1),
                                                         loop_of(sch, "S", 0)});
                    }),
            "reorder(loop k, loop i, loop j) would be legal");
}

TEST(NearestLegalCalls, AnotherLoopOrAnotherWay) {
  EXPECT_EQ(help_of(kProduct, [](Schedule& sch) { sch.call("parallel", loop_of(sch, "C", 2)); }),
            "parallel(loop i) or rfactor(loop k, 0) would be legal");
  EXPECT_EQ(help_of(kProduct, [](Schedule& sch) { sch.call("vectorize", loop_of(sch, "C", 2)); }),
            "vectorize(loop j) or rfactor(loop k, 0) would be legal");
  EXPECT_EQ(help_of(kProduct,
                    [](Schedule& sch) {
                      sch.call("bind", loop_of(sch, "C", 0), "threadIdx.x");
                      sch.call("bind", loop_of(sch, "C", 1), "threadIdx.x");
                    }),
            "bind(loop j, \"threadIdx.y\") would be legal");
}

TEST(NearestLegalCalls, ArgumentsOfAnotherTypeAreNotTried) {
  EXPECT_EQ(help_of(kProduct, [](Schedule& sch) { sch.call("compute_inline", loop_of(sch, "C", 0)); }), "");
  EXPECT_EQ(help_of(kProduct, [](Schedule& sch) { sch.call("parallel", 3); }), "");
  EXPECT_EQ(help_of(kProduct, [](Schedule& sch) { sch.call("fuse", ArgValue::List{3}); }), "");
  EXPECT_EQ(help_of(kProduct, [](Schedule& sch) { sch.call("bind", loop_of(sch, "C", 2), 3); }), "");
}

TEST(NearestLegalCalls, FastErrorsDoNotLookForThem) {
  Schedule schedule(module_of(kProduct), {.errors = ErrorDetail::kFast});
  try {
    schedule.call("compute_inline", "C");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.render(), "error: compute_inline: block C is a reduction");
  }
}

TEST(Copies, ShareWhatNeitherHasChanged) {
  Schedule first(module_of(kProduct), {.verify_steps = true});
  Schedule second = first.copy();
  first.call("parallel", loop_of(first, "C", 0));
  second.call("fuse", ArgValue::List{loop_of(second, "D", 0), loop_of(second, "D", 1)});
  Schedule third = second.copy();
  third.call("compute_inline", third.call("cache_read", "D", 0, "global").block());
  for (const Schedule* schedule : {&first, &second, &third}) schedule->state().verify_tree();
  EXPECT_EQ(first.get(loop_of(first, "D", 0))->loop_var->name_hint, "x");
  EXPECT_EQ(second.get(loop_of(second, "C", 0))->for_kind, ForKind::kSerial);
}

}  // namespace
}  // namespace tilewright::schedule
