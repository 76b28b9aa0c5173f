// reverse_compute_inline: a consumer is computed by its producer.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

TEST(ReverseComputeInline, ConsumerIsComputedByItsProducer) {
  check_schedule(kTwoSteps, [](Schedule& sch) { sch.call("reverse_compute_inline", "C"); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((7, 5), "float32")):
        for i, j in T.grid(5, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vj, vi] = A[vi, vj] * T.float32(2) + T.float32(1)
  )");
}

TEST(ReverseComputeInline, ElementsThatTheConsumerLeavesOutAreNotWritten) {
  check_schedule(
      R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32"), C: T.Buffer((7,), "float32")):
        B = T.alloc_buffer((7,))
        for i in range(7):
            with T.block("B"):
                vi = T.axis.spatial(7, i)
                B[vi] = A[vi] * T.float32(2)
        for i in range(7):
            with T.block("C"):
                vi = T.axis.spatial(7, i)
                T.where(i < 5)
                C[vi] = B[vi] + T.float32(1)
  )",
      [](Schedule& sch) { sch.call("reverse_compute_inline", "C"); }, R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32"), C: T.Buffer((7,), "float32")):
        for i in range(7):
            with T.block("B"):
                vi = T.axis.spatial(7, i)
                T.where(i < 5)
                C[vi] = A[vi] * T.float32(2) + T.float32(1)
  )");
}

TEST(ReverseComputeInline, PaddingIsRefused) {
  check_refused(
      R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), C: T.Buffer((7,), "float32")):
        B = T.alloc_buffer((5,))
        for i in range(5):
            with T.block("B"):
                vi = T.axis.spatial(5, i)
                B[vi] = A[vi] * T.float32(2)
        for i in range(7):
            with T.block("C"):
                vi = T.axis.spatial(7, i)
                C[vi] = T.if_then_else(1 <= vi and vi < 6, B[vi - 1], T.float32(0))
  )",
      [](Schedule& sch) { sch.call("reverse_compute_inline", "C"); }, R"(
    error: reverse_compute_inline: block C may read elements of B that block B does not write
      f.py:9:14
       8 |     for i in range(7):
       9 |         with T.block("C"):
         |              ^^^^^^^^^^^^
      10 |             vi = T.axis.spatial(7, i)
    help: compute_inline(block B) would be legal
  )");
}

constexpr std::string_view kUsedBefore = R"(
    @T.prim_func
    def main(A: T.Buffer((5,)), B: T.Buffer((5,)), C: T.Buffer((5,)), D: T.Buffer((5,))):
        X = T.alloc_buffer((5,))
        Y = T.alloc_buffer((5,))
        for i in range(5):
            with T.block("D"):
                vi = T.axis.spatial(5, i)
                D[vi] = C[vi]
        for j in range(5):
            with T.block("X"):
                vj = T.axis.spatial(5, j)
                X[vj] = A[vj] * T.float32(2)
        for k in range(5):
            with T.block("Y"):
                vk = T.axis.spatial(5, k)
                Y[vk] = B[vk] + T.float32(1)
        for l in range(5):
            with T.block("C"):
                vl = T.axis.spatial(5, l)
                C[vl] = Y[vl] - X[vl]
)";

TEST(ReverseComputeInline, LastProducerComputesWhatWasUsedBefore) {
  check_schedule(kUsedBefore, [](Schedule& sch) { sch.call("reverse_compute_inline", "C"); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5,)), B: T.Buffer((5,)), C: T.Buffer((5,)), D: T.Buffer((5,))):
        X = T.alloc_buffer((5,))
        for i in range(5):
            with T.block("D"):
                vi = T.axis.spatial(5, i)
                D[vi] = C[vi]
        for j in range(5):
            with T.block("X"):
                vj = T.axis.spatial(5, j)
                X[vj] = A[vj] * T.float32(2)
        for k in range(5):
            with T.block("Y"):
                vk = T.axis.spatial(5, k)
                C[vk] = B[vk] + T.float32(1) - X[vk]
  )");
}

}  // namespace
}  // namespace tilewright::schedule
