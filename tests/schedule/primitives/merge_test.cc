// merge: loops of several nests become one.
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

constexpr std::string_view kTwo = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32")):
        for i, j in T.grid(5, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(5, 7):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] + T.float32(1)
)";

LoopRef loop_of(Schedule& sch, const char* block, size_t n) {
  return sch.call("get_loops", block).loops()[n];
}

TEST(Merge, OuterLoops) {
  check_schedule(
      kTwo, [](Schedule& sch) { sch.call("merge", loop_of(sch, "B", 0), loop_of(sch, "C", 0)); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32")):
        for i_m in range(5):
            for j in range(7):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i_m, j])
                    B[vi, vj] = A[vi, vj] * T.float32(2)
            for j in range(7):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i_m, j])
                    C[vi, vj] = B[vi, vj] + T.float32(1)
  )");
}

TEST(Merge, InnerLoopsTakeTheOuterOnesAlong) {
  check_schedule(
      kTwo, [](Schedule& sch) { sch.call("merge", loop_of(sch, "B", 1), loop_of(sch, "C", 1)); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32")):
        for i_m, j_m in T.grid(5, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i_m, j_m])
                B[vi, vj] = A[vi, vj] * T.float32(2)
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i_m, j_m])
                C[vi, vj] = B[vi, vj] + T.float32(1)
  )");
}

constexpr std::string_view kShifted = R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32"), B: T.Buffer((7,), "float32"), C: T.Buffer((7,), "float32")):
        for i in range(7):
            with T.block("B"):
                vi = T.axis.spatial(7, i)
                B[vi] = A[vi] * T.float32(2)
        for i in range(7):
            with T.block("C"):
                vi = T.axis.spatial(7, i)
                C[vi] = B[6 - vi] + T.float32(1)
        for i in range(7):
            with T.block("A"):
                vi = T.axis.spatial(7, i)
                A[vi] = T.float32(0)
        for i in range(5):
            with T.block("D"):
                vi = T.axis.spatial(5, i)
                C[vi] = A[vi]
        for i in range(7):
            with T.block("E"):
                vi = T.axis.spatial(7, i)
                B[vi] = T.float32(0)
)";

TEST(Merge, IterationsThatNeedLaterOnesAreRefused) {
  check_refused(
      kShifted, [](Schedule& sch) { sch.call("merge", loop_of(sch, "B", 0), loop_of(sch, "C", 0)); }, R"(
    error: merge: block C reads B, which block B writes in another iteration of loop i_m
      f.py:8:14
       7 |     for i in range(7):
       8 |         with T.block("C"):
         |              ^^^^^^^^^^^^
       9 |             vi = T.axis.spatial(7, i)
    note: block C at i_m=0 reads B[6], written by block B at i_m=6
  )");
}

TEST(Merge, WhatIsPassedMustNotCare) {
  check_refused(
      kShifted, [](Schedule& sch) { sch.call("merge", loop_of(sch, "B", 0), loop_of(sch, "E", 0)); }, R"(
    error: merge: block C reads B, which block E writes: the two cannot change places
      f.py:8:14
       7 |     for i in range(7):
       8 |         with T.block("C"):
         |              ^^^^^^^^^^^^
       9 |             vi = T.axis.spatial(7, i)
  )");
}

TEST(Merge, DifferentNestsAreRefused) {
  check_refused(
      kShifted, [](Schedule& sch) { sch.call("merge", loop_of(sch, "A", 0), loop_of(sch, "D", 0)); }, R"(
    error: merge: loop i runs over [0, 7), loop i over [0, 5)
      f.py:15:5
      14 |             A[vi] = T.float32(0)
      15 |     for i in range(5):
         |     ^^^^^^^^^^^^^^^^^^
      16 |         with T.block("D"):
  )");
  check_refused(
      kTwo, [](Schedule& sch) { sch.call("merge", loop_of(sch, "B", 0), loop_of(sch, "C", 1)); }, R"(
    error: merge: loop i is 1 deep, loop j 2
      f.py:7:5
       6 |             B[vi, vj] = A[vi, vj] * T.float32(2)
       7 |     for i, j in T.grid(5, 7):
         |     ^^^^^^^^^^^^^^^^^^^^^^^^^
       8 |         with T.block("C"):
  )");
  check_refused(
      kTwo, [](Schedule& sch) { sch.call("merge", loop_of(sch, "C", 0), loop_of(sch, "B", 0)); }, R"(
    error: merge: loop i does not come after loop i
      f.py:3:5
       2 | def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32")):
       3 |     for i, j in T.grid(5, 7):
         |     ^^^^^^^^^^^^^^^^^^^^^^^^^
       4 |         with T.block("B"):
  )");
  check_refused(
      kTwo, [](Schedule& sch) { sch.call("merge", loop_of(sch, "C", 0)); },
      "error: merge: at least two loops are needed, but 1 given");
}

}  // namespace
}  // namespace tilewright::schedule
