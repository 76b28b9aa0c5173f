// compute_inline: a producer is computed where it is read.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

TEST(ComputeInline, ProducerIsComputedWhereItIsRead) {
  check_schedule(kTwoSteps, [](Schedule& sch) { sch.call("compute_inline", "B"); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((7, 5), "float32")):
        for i, j in T.grid(7, 5):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vj, vi] * T.float32(2) + T.float32(1)
  )");
}

// Each iteration of i computes its own elements of B, some of them twice; a reader behind the loop would need
// them to be one buffer.
TEST(ComputeInline, BufferOfOneParallelIterationStaysInside) {
  check_refused(
      R"(
    @T.prim_func
    def main(A: T.Buffer((18,), "float32"), D: T.Buffer((16,), "float32")):
        B = T.alloc_buffer((18,))
        C = T.alloc_buffer((16,))
        for i in range(18):
            with T.block("B"):
                vi = T.axis.spatial(18, i)
                B[vi] = A[vi] * T.float32(2)
        for i in range(16):
            with T.block("C"):
                vi = T.axis.spatial(16, i)
                C[vi] = B[vi] + B[vi + 1] + B[vi + 2]
        for i in range(16):
            with T.block("D"):
                vi = T.axis.spatial(16, i)
                D[vi] = C[vi] + T.float32(1)
  )",
      [](Schedule& sch) {
        const LoopRef i = sch.call("get_loops", "C").loops()[0];
        sch.call("compute_at", "B", i);
        sch.call("parallel", i);
        sch.call("compute_inline", "C");
      },
      R"(
    error: compute_inline: the iterations of loop i could not run at once any more: block B writes B[vi] in several iterations of loop i
      f.py:9:5
       8 |             B[vi] = A[vi] * T.float32(2)
       9 |     for i in range(16):
         |     ^^^^^^^^^^^^^^^^^^^
      10 |         with T.block("C"):
    note: block B at i=1 writes B[1], written by block B at i=0
  )");
}

TEST(ComputeInline, InputsThatStayMayBeReadLater) {
  check_schedule(kOwnElements, [](Schedule& sch) { sch.call("compute_inline", "Y"); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5,)), B: T.Buffer((5, 3)), D: T.Buffer((5, 3))):
        X = T.alloc_buffer((5,))
        for t in range(5):
            with T.block("X"):
                vt = T.axis.spatial(5, t)
                X[vt] = A[vt] * T.float32(2)
        for j, k in T.grid(5, 3):
            with T.block("D"):
                vj, vk = T.axis.remap("SS", [j, k])
                D[vj, vk] = (B[vj, vk] + X[vj]) * X[vj]
  )");
}

}  // namespace
}  // namespace tilewright::schedule
