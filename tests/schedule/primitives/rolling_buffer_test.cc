// rolling_buffer: what the next iteration reads again is kept.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

// Windows of three along the first dimension; 7 results, so that tiles of 4 leave an edge.
constexpr std::string_view kRows = R"(
    @T.prim_func
    def main(A: T.Buffer((9, 5), "float32"), C: T.Buffer((7, 5), "float32")):
        B = T.alloc_buffer((9, 5))
        for i, j in T.grid(9, 5):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(7, 5):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] + B[vi + 1, vj] + B[vi + 2, vj]
)";

TEST(RollingBuffer, InTheOuterPartOfALoopThatWasSplit) {
  check_schedule(kRows, [](Schedule& sch) {
    const LoopRef i = sch.call("get_loops", "C").loops()[0];
    const auto parts = sch.call("split", i, Factors{None{}, int64_t{4}}).loops();
    sch.call("compute_at", "B", parts[0]);
    sch.call("rolling_buffer", "B", 0);
  });
}

TEST(RollingBuffer, InTheInnerPartOfALoopThatWasSplit) {
  check_schedule(kRows, [](Schedule& sch) {
    const LoopRef i = sch.call("get_loops", "C").loops()[0];
    const auto parts = sch.call("split", i, Factors{None{}, int64_t{4}}).loops();
    sch.call("compute_at", "B", parts[1]);
    sch.call("rolling_buffer", "B", 0);
  });
}

TEST(RollingBuffer, InTilesOfBothDimensions) {
  for (const int64_t rows : {2, 3, 7}) {
    for (const int64_t columns : {2, 5}) {
      check_schedule(kRows, [&](Schedule& sch) {
        const std::vector<LoopRef> loops = sch.call("get_loops", "C").loops();
        const auto i = sch.call("split", loops[0], Factors{None{}, rows}).loops(),
                   j = sch.call("split", loops[1], Factors{None{}, columns}).loops();
        sch.call("reorder", std::vector<LoopRef>{j[0], i[0], i[1], j[1]});
        sch.call("compute_at", "B", i[1]);
        sch.call("rolling_buffer", "B", 0);
      });
    }
  }
}

// Elements that an iteration leaves out, the next one must leave out, too.
TEST(RollingBuffer, ConditionsThatDifferFromIterationToIterationAreRefused) {
  check_refused(
      R"(
    @T.prim_func
    def main(A: T.Buffer((9,), "float32"), C: T.Buffer((7,), "float32")):
        B = T.alloc_buffer((9,))
        for i in range(7):
            for k in range(3):
                with T.block("B"):
                    vi = T.axis.spatial(9, i + k)
                    T.where(i < 5)
                    B[vi] = A[vi] * T.float32(2)
            with T.block("C"):
                vi = T.axis.spatial(7, i)
                C[vi] = B[vi] + B[vi + 2]
  )",
      [](Schedule& sch) { sch.call("rolling_buffer", "B", 0); }, R"(
    error: rolling_buffer: block B runs only where i < 5, which differs from iteration to iteration
      f.py:6:18
       5 |         for k in range(3):
       6 |             with T.block("B"):
         |                  ^^^^^^^^^^^^
       7 |                 vi = T.axis.spatial(9, i + k)
  )");
}

TEST(RollingBuffer, WhatTheNextIterationNeedsIsKept) {
  check_schedule(
      kWindow,
      [](Schedule& sch) {
        sch.call("compute_at", "B", sch.call("get_loops", "C").loops()[0]);
        sch.call("rolling_buffer", "B", 0);
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((9, 7), "float32"), C: T.Buffer((7, 7), "float32")):
        B = T.alloc_buffer((3, 7))
        for i in range(7):
            for ax0, ax1 in T.grid(3, 7):
                with T.block("B"):
                    vi = T.axis.opaque(9, i + ax0)
                    vj = T.axis.spatial(7, ax1)
                    T.where(i < 1 or ax0 >= 2)
                    B[vi % 3, vj] = A[vi, vj] * T.float32(2)
            for j in range(7):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = B[vi % 3, vj] + B[(vi + 2) % 3, vj]
  )");
}

TEST(RollingBuffer, WithoutASharedLoopIsRefused) {
  check_refused(kWindow, [](Schedule& sch) { sch.call("rolling_buffer", "B", 0); }, R"(
    error: rolling_buffer: no loop is around block B and all that reads B
      f.py:5:14
       4 |     for i, j in T.grid(9, 7):
       5 |         with T.block("B"):
         |              ^^^^^^^^^^^^
       6 |             vi, vj = T.axis.remap("SS", [i, j])
    help: move the block to its consumers with compute_at first
  )");
  check_refused(kTwoInLoop, [](Schedule& sch) { sch.call("rolling_buffer", "B", 0); }, R"(
    error: rolling_buffer: no two iterations of a loop around block B need the same elements of B
      f.py:6:18
       5 |         for j in range(7):
       6 |             with T.block("B"):
         |                  ^^^^^^^^^^^^
       7 |                 vi, vj = T.axis.remap("SS", [i, j])
  )");
}

}  // namespace
}  // namespace tilewright::schedule
