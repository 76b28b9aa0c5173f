// reverse_compute_at: a consumer is computed in a loop of its producer.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

TEST(ReverseComputeAt, ReluIntoTiledMatmul) {
  check_schedule(
      kMmRelu,
      [](Schedule& sch) {
        const auto [i, j, k] = sch.call("get_loops", "Y").loops<3>();
        const auto [j0, j1] = sch.call("split", j, by(4)).loops<2>();
        sch.call("reorder", j0, k, j1);
        sch.call("reverse_compute_at", "C", j0);
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((8, 7), "float32"), B: T.Buffer((7, 12), "float32"), C: T.Buffer((8, 12), "float32")):
        Y = T.alloc_buffer((8, 12))
        for i, j_0 in T.grid(8, 3):
            for k, j_1 in T.grid(7, 4):
                with T.block("Y"):
                    vi = T.axis.spatial(8, i)
                    vj = T.axis.spatial(12, j_0 * 4 + j_1)
                    vk = T.axis.reduce(7, k)
                    with T.init():
                        Y[vi, vj] = T.float32(0)
                    Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
            for ax0 in range(4):
                with T.block("C"):
                    vi = T.axis.spatial(8, i)
                    vj = T.axis.spatial(12, j_0 * 4 + ax0)
                    C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
  )");
}

TEST(ReverseComputeAt, UnevenTileKeepsItsGuard) {
  check_schedule(
      kMmRelu,
      [](Schedule& sch) {
        const auto [i, j, k] = sch.call("get_loops", "Y").loops<3>();
        const auto [j0, j1] = sch.call("split", j, by(5)).loops<2>();
        sch.call("reorder", j0, k, j1);
        sch.call("reverse_compute_at", "C", j0);
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((8, 7), "float32"), B: T.Buffer((7, 12), "float32"), C: T.Buffer((8, 12), "float32")):
        Y = T.alloc_buffer((8, 12))
        for i, j_0 in T.grid(8, 3):
            for k, j_1 in T.grid(7, 5):
                with T.block("Y"):
                    vi = T.axis.spatial(8, i)
                    vj = T.axis.spatial(12, j_0 * 5 + j_1)
                    vk = T.axis.reduce(7, k)
                    T.where(j_0 * 5 + j_1 < 12)
                    with T.init():
                        Y[vi, vj] = T.float32(0)
                    Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
            for ax0 in range(5):
                with T.block("C"):
                    vi = T.axis.spatial(8, i)
                    vj = T.axis.spatial(12, j_0 * 5 + ax0)
                    T.where(j_0 * 5 + ax0 < 12)
                    C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
  )");
}

TEST(ReverseComputeAt, UnfinishedSumIsRefused) {
  check_refused(
      kMmRelu,
      [](Schedule& sch) {
        const auto [i, j, k] = sch.call("get_loops", "Y").loops<3>();
        sch.call("reorder", k, j);
        sch.call("reverse_compute_at", "C", j);
      },
      R"(
    error: reverse_compute_at: what loop j produces in one iteration does not divide the work of block C: block C does not run once for each value of its axes (no index uses loop k)
      f.py:11:14
      10 |     for i, j in T.grid(8, 12):
      11 |         with T.block("C"):
         |              ^^^^^^^^^^^^
      12 |             vi, vj = T.axis.remap("SS", [i, j])
    help: reverse_compute_at(block C, loop i around block Y) or compute_at(block Y, loop j around block C) would be legal
  )");
}

TEST(ReverseComputeAt, SumInAParallelLoopIsRefused) {
  check_refused(
      R"(
    @T.prim_func
    def main(A: T.Buffer((4, 9), "float32"), S: T.Buffer((4,), "float32")):
        E = T.alloc_buffer((4, 9))
        for i, j in T.grid(4, 9):
            with T.block("E"):
                vi, vj = T.axis.remap("SS", [i, j])
                E[vi, vj] = A[vi, vj] * T.float32(2)
        for i, k in T.grid(4, 9):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0)
                S[vi] = S[vi] + E[vi, vk]
  )",
      [](Schedule& sch) {
        const LoopRef j = sch.call("get_loops", "E").loops()[1];
        sch.call("parallel", j);
        sch.call("reverse_compute_at", "S", j);
      },
      R"(
    error: reverse_compute_at: the iterations of loop j could not run at once any more: block S writes S[vi] in several iterations of loop j
      f.py:4:5
       3 |     E = T.alloc_buffer((4, 9))
       4 |     for i, j in T.grid(4, 9):
         |     ^^^^^^^^^^^^^^^^^^^^^^^^^
       5 |         with T.block("E"):
    note: block S at j=1 writes S[0], written by block S at j=0
    help: reverse_compute_at(block S, loop i around block E) or compute_at(block E, loop k) would be legal
  )");
}

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

}  // namespace
}  // namespace tilewright::schedule
