// compute_at: a producer is computed in a loop of its consumer.
#include "primitive_programs.h"
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

constexpr std::string_view kBlur = R"(
    @T.prim_func
    def main(A: T.Buffer((18,), "float32"), C: T.Buffer((16,), "float32")):
        B = T.alloc_buffer((18,))
        for i in range(18):
            with T.block("B"):
                vi = T.axis.spatial(18, i)
                B[vi] = A[vi] * T.float32(2)
        for i in range(16):
            with T.block("C"):
                vi = T.axis.spatial(16, i)
                C[vi] = B[vi] + B[vi + 1] + B[vi + 2]
)";

TEST(ComputeAt, HaloIsComputedAgain) {
  check_schedule(
      kBlur,
      [](Schedule& sch) {
        const auto [i0, i1] = sch.call("split", sch.call("get_loops", "C").loops()[0], by(4)).loops<2>();
        sch.call("compute_at", "B", i0);
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((18,), "float32"), C: T.Buffer((16,), "float32")):
        B = T.alloc_buffer((18,))
        for i_0 in range(4):
            for ax0 in range(6):
                with T.block("B"):
                    vi = T.axis.spatial(18, i_0 * 4 + ax0)
                    B[vi] = A[vi] * T.float32(2)
            for i_1 in range(4):
                with T.block("C"):
                    vi = T.axis.spatial(16, i_0 * 4 + i_1)
                    C[vi] = B[vi] + B[vi + 1] + B[vi + 2]
  )");
}

TEST(ComputeAt, OneValueNeedsNoLoop) {
  check_schedule(
      kMmRelu, [](Schedule& sch) { sch.call("compute_at", "Y", sch.call("get_loops", "C").loops()[1]); }, R"(
    @T.prim_func
    def main(A: T.Buffer((8, 7), "float32"), B: T.Buffer((7, 12), "float32"), C: T.Buffer((8, 12), "float32")):
        Y = T.alloc_buffer((8, 12))
        for i, j in T.grid(8, 12):
            for ax0 in range(7):
                with T.block("Y"):
                    vi, vj, vk = T.axis.remap("SSR", [i, j, ax0])
                    with T.init():
                        Y[vi, vj] = T.float32(0)
                    Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
  )");
}

TEST(ComputeAt, HaloReadBackIsRefusedTheOtherWay) {
  check_refused(
      kBlur,
      [](Schedule& sch) {
        const auto [i0, i1] = sch.call("split", sch.call("get_loops", "B").loops()[0], by(6)).loops<2>();
        sch.call("reverse_compute_at", "C", i0);
      },
      R"(
    error: reverse_compute_at: what loop i_0 produces in one iteration does not divide the work of block C: block C does not run once for each value of its axes (index 0 is not quasi-affine: its strides leave gaps or overlap)
      f.py:9:14
       8 |     for i in range(16):
       9 |         with T.block("C"):
         |              ^^^^^^^^^^^^
      10 |             vi = T.axis.spatial(16, i)
    help: compute_at(block B, loop i) would be legal
  )");
}

// The reader's guard is of vectors, the producer's of numbers: no iteration has to write beyond the end of B.
TEST(ComputeAt, IterationsOfAFusedLoopWriteWhatTheyReadUpToTheEnd) {
  check_schedule(
      R"(
    @T.prim_func
    def main(A: T.Buffer((4, 40), "float32"), C: T.Buffer((4, 40), "float32")):
        B = T.alloc_buffer((4, 40))
        for i, j in T.grid(4, 40):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(4, 40):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] + T.float32(1)
  )",
      [](Schedule& sch) {
        const auto [i, j] = sch.call("get_loops", "C").loops<2>();
        const auto [j0, j1, j2] = sch.call("split", j, Factors{None{}, 3, 4}).loops<3>();
        const auto [i0, i1] = sch.call("split", i, Factors{None{}, 2}).loops<2>();
        sch.call("reorder", std::vector<LoopRef>{j0, i0, i1, j1, j2});
        const LoopRef tiles = sch.call("fuse", std::vector<LoopRef>{j0, i0}).loop();
        sch.call("parallel", tiles);
        sch.call("compute_at", "B", tiles);
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((4, 40), "float32"), C: T.Buffer((4, 40), "float32")):
        B = T.alloc_buffer((4, 40))
        for j_0_i_0_fused in T.parallel(8):
            for ax0, ax1 in T.grid(2, 12):
                with T.block("B"):
                    vi = T.axis.spatial(4, j_0_i_0_fused % 2 * 2 + ax0)
                    vj = T.axis.spatial(40, j_0_i_0_fused // 2 * 12 + ax1)
                    T.where(j_0_i_0_fused // 2 * 12 + ax1 < 40)
                    B[vi, vj] = A[vi, vj] * T.float32(2)
            for i_1, j_1, j_2 in T.grid(2, 3, 4):
                with T.block("C"):
                    vi = T.axis.spatial(4, j_0_i_0_fused % 2 * 2 + i_1)
                    vj = T.axis.spatial(40, j_0_i_0_fused // 2 * 12 + j_1 * 4 + j_2)
                    T.where(j_0_i_0_fused // 2 * 3 + j_1 < 10)
                    C[vi, vj] = B[vi, vj] + T.float32(1)
  )");
}

TEST(ComputeAt, ABlockThatNothingReadsIsRefused) {
  check_refused(
      kBlur, [](Schedule& sch) { sch.call("compute_at", "C", sch.call("get_loops", "B").loops()[0]); }, R"(
    error: compute_at: nothing reads what block C writes
      f.py:9:14
       8 |     for i in range(16):
       9 |         with T.block("C"):
         |              ^^^^^^^^^^^^
      10 |             vi = T.axis.spatial(16, i)
  )");
}

TEST(ComputeAt, ABufferOfTwoWritersIsRefused) {
  check_refused(
      R"(
    @T.prim_func
    def main(A: T.Buffer((16,), "float32"), C: T.Buffer((16,), "float32")):
        B = T.alloc_buffer((16,))
        for i in range(8):
            with T.block("first"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi] * T.float32(2)
        for i in range(8):
            with T.block("second"):
                vi = T.axis.spatial(8, i)
                B[vi + 8] = A[vi + 8]
        for i in range(16):
            with T.block("C"):
                vi = T.axis.spatial(16, i)
                C[vi] = B[vi] + T.float32(1)
  )",
      [](Schedule& sch) { sch.call("compute_at", "first", sch.call("get_loops", "C").loops()[0]); }, R"(
    error: compute_at: block first cannot be moved: block second writes B as well
      f.py:5:14
       4 |     for i in range(8):
       5 |         with T.block("first"):
         |              ^^^^^^^^^^^^^^^^
       6 |             vi = T.axis.spatial(8, i)
  )");
}

constexpr std::string_view kTwoResults = R"(
    @T.prim_func
    def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32"), C: T.Buffer((16,), "float32")):
        for i in range(16):
            with T.block("B"):
                vi = T.axis.spatial(16, i)
                B[vi] = A[vi] * T.float32(2)
        for i in range(16):
            with T.block("C"):
                vi = T.axis.spatial(16, i)
                C[vi] = B[vi] + T.float32(1)
)";

TEST(ComputeAt, AParameterIsStillWrittenWhole) {
  check_schedule(
      kTwoResults,
      [](Schedule& sch) {
        const auto [i0, i1] = sch.call("split", sch.call("get_loops", "C").loops()[0], by(5)).loops<2>();
        sch.call("compute_at", "B", i0);
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32"), C: T.Buffer((16,), "float32")):
        for i_0 in range(4):
            for ax0 in range(5):
                with T.block("B"):
                    vi = T.axis.spatial(16, i_0 * 5 + ax0)
                    T.where(i_0 * 5 + ax0 < 16)
                    B[vi] = A[vi] * T.float32(2)
            for i_1 in range(5):
                with T.block("C"):
                    vi = T.axis.spatial(16, i_0 * 5 + i_1)
                    T.where(i_0 * 5 + i_1 < 16)
                    C[vi] = B[vi] + T.float32(1)
  )");
}

TEST(ComputeAt, AParameterOfWhichAPartIsReadIsRefused) {
  check_refused(
      R"(
    @T.prim_func
    def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32"), C: T.Buffer((15,), "float32")):
        for i in range(16):
            with T.block("B"):
                vi = T.axis.spatial(16, i)
                B[vi] = A[vi] * T.float32(2)
        for i in range(15):
            with T.block("C"):
                vi = T.axis.spatial(15, i)
                C[vi] = B[vi] + T.float32(1)
  )",
      [](Schedule& sch) { sch.call("compute_at", "B", sch.call("get_loops", "C").loops()[0]); }, R"(
    error: compute_at: block B writes B, a parameter of the function, and its consumers do not need every element that it writes
      f.py:4:14
       3 |     for i in range(16):
       4 |         with T.block("B"):
         |              ^^^^^^^^^^^^
       5 |             vi = T.axis.spatial(16, i)
  )");
}

// k_0 and k_1 are axes of the partial sums; which of them there are is said of both together.
TEST(ComputeAt, AConditionOnSeveralAxesMovesWithTheBlock) {
  check_schedule(
      R"(
    @T.prim_func
    def main(A: T.Buffer((3, 10), "float32"), B: T.Buffer((3,), "float32")):
        for i, k in T.grid(3, 10):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vi, vk]
  )",
      [](Schedule& sch) {
        const LoopRef inner =
            sch.call("split", sch.call("get_loops", "B").loops()[1], Factors{None{}, int64_t{4}}).loops()[1];
        const BlockRef partial = sch.call("rfactor", inner, -1).block();
        sch.call("compute_at", partial, sch.call("get_loops", "B").loops()[0]);
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((3, 10), "float32"), B: T.Buffer((3,), "float32")):
        B_rf = T.alloc_buffer((3, 4))
        for i in range(3):
            for k_1, k_0 in T.grid(4, 3):
                with T.block("B_rf"):
                    vk_1, vi, vk_0 = T.axis.remap("SSR", [k_1, i, k_0])
                    T.where(k_0 * 4 + k_1 < 10)
                    with T.init():
                        B_rf[vi, vk_1] = T.float32(0)
                    B_rf[vi, vk_1] = B_rf[vi, vk_1] + A[vi, vk_0 * 4 + vk_1]
            for k_1 in range(4):
                with T.block("B"):
                    vk_1, vi = T.axis.remap("RS", [k_1, i])
                    with T.init():
                        B[vi] = T.float32(0)
                    B[vi] = B[vi] + B_rf[vi, vk_1]
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

}  // namespace
}  // namespace tilewright::schedule
