// Blocks that leave or enter a loop in which what they read is written: allowed when each iteration has its
// own elements.  tests/errors/schedule_moves.txt has what is refused.
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

// Iteration t writes X[t] and Y[t, ...].
constexpr std::string_view kOwnElements = R"(
    @T.prim_func
    def main(A: T.Buffer((5,)), B: T.Buffer((5, 3)), D: T.Buffer((5, 3))):
        X = T.alloc_buffer((5,))
        Y = T.alloc_buffer((5, 3))
        for t in range(5):
            with T.block("X"):
                vt = T.axis.spatial(5, t)
                X[vt] = A[vt] * T.float32(2)
            for i in range(3):
                with T.block("Y"):
                    vt, vi = T.axis.remap("SS", [t, i])
                    Y[vt, vi] = B[vt, vi] + X[vt]
        for j, k in T.grid(5, 3):
            with T.block("D"):
                vj, vk = T.axis.remap("SS", [j, k])
                D[vj, vk] = Y[vj, vk] * X[vj]
)";

TEST(ReverseComputeAt, InputsOfTheSameIterationAreReady) {
  check_schedule(
      kOwnElements,
      [](Schedule& sch) {
        const auto [outer, inner] = sch.call("get_loops", "Y").loops<2>();
        sch.call("reverse_compute_at", "D", inner);
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((5,)), B: T.Buffer((5, 3)), D: T.Buffer((5, 3))):
        X = T.alloc_buffer((5,))
        Y = T.alloc_buffer((5, 3))
        for t in range(5):
            with T.block("X"):
                vt = T.axis.spatial(5, t)
                X[vt] = A[vt] * T.float32(2)
            for i in range(3):
                with T.block("Y"):
                    vt, vi = T.axis.remap("SS", [t, i])
                    Y[vt, vi] = B[vt, vi] + X[vt]
                with T.block("D"):
                    vj, vk = T.axis.remap("SS", [t, i])
                    D[vj, vk] = Y[vj, vk] * X[vj]
  )");
}

TEST(ComputeAt, InputsThatStayMayBeReadLater) {
  check_schedule(
      kOwnElements,
      [](Schedule& sch) {
        const auto [outer, inner] = sch.call("get_loops", "D").loops<2>();
        sch.call("compute_at", "Y", inner);
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((5,)), B: T.Buffer((5, 3)), D: T.Buffer((5, 3))):
        X = T.alloc_buffer((5,))
        Y = T.alloc_buffer((5, 3))
        for t in range(5):
            with T.block("X"):
                vt = T.axis.spatial(5, t)
                X[vt] = A[vt] * T.float32(2)
        for j, k in T.grid(5, 3):
            with T.block("Y"):
                vt, vi = T.axis.remap("SS", [j, k])
                Y[vt, vi] = B[vt, vi] + X[vt]
            with T.block("D"):
                vj, vk = T.axis.remap("SS", [j, k])
                D[vj, vk] = Y[vj, vk] * X[vj]
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
