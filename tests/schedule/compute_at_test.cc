// compute_at, reverse_compute_at and decompose_reduction; the course's schedule of a batched product.
#include "schedule_testing.h"

namespace tilewright::schedule {
namespace {

Factors by(int64_t factor) { return {None{}, factor}; }

constexpr std::string_view kMmRelu = R"(
    @T.prim_func
    def main(A: T.Buffer((8, 7), "float32"), B: T.Buffer((7, 12), "float32"), C: T.Buffer((8, 12), "float32")):
        Y = T.alloc_buffer((8, 12))
        for i, j, k in T.grid(8, 12, 7):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(8, 12):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
)";

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

TEST(DecomposeReduction, InitGoesBeforeTheReducingLoop) {
  check_schedule(
      kMmRelu,
      [](Schedule& sch) {
        const auto [i, j, k] = sch.call("get_loops", "Y").loops<3>();
        const auto [j0, j1] = sch.call("split", j, by(4)).loops<2>();
        sch.call("reorder", j0, k, j1);
        sch.call("decompose_reduction", "Y", k);
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((8, 7), "float32"), B: T.Buffer((7, 12), "float32"), C: T.Buffer((8, 12), "float32")):
        Y = T.alloc_buffer((8, 12))
        for i, j_0 in T.grid(8, 3):
            for j_1_init in range(4):
                with T.block("Y_init"):
                    vi = T.axis.spatial(8, i)
                    vj = T.axis.spatial(12, j_0 * 4 + j_1_init)
                    Y[vi, vj] = T.float32(0)
            for k, j_1 in T.grid(7, 4):
                with T.block("Y_update"):
                    vi = T.axis.spatial(8, i)
                    vj = T.axis.spatial(12, j_0 * 4 + j_1)
                    vk = T.axis.reduce(7, k)
                    Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(8, 12):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
  )");
}

TEST(DecomposeReduction, LoopInsideTheReductionIsRefused) {
  check_refused(
      kMmRelu,
      [](Schedule& sch) {
        const auto [i, j, k] = sch.call("get_loops", "Y").loops<3>();
        const auto [k0, k1] = sch.call("split", k, by(7)).loops<2>();
        sch.call("decompose_reduction", "Y", k1);
      },
      R"(
    error: decompose_reduction: loop k_0 reduces in block Y, but is outside of loop k_1
      <main as scheduled>:5:15
       4 |     Y = T.alloc_buffer((8, 12))
       5 |     for i, j, k_0, k_1 in T.grid(8, 12, 1, 7):
         |               ^^^
       6 |         with T.block("Y"):
    note: k_0 was made from this line
       4 |     for i, j, k in T.grid(8, 12, 7):
         |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    help: choose loop k_0 or one outside of it, or reorder the loops
  )");
}

TEST(DecomposeReduction, LoopOverElementsAndTermsIsRefused) {
  check_refused(
      kMmRelu,
      [](Schedule& sch) {
        const auto [i, j, k] = sch.call("get_loops", "Y").loops<3>();
        sch.call("decompose_reduction", "Y", sch.call("fuse", j, k).loop());
      },
      R"(
    error: decompose_reduction: reduce axis vk of block Y does not start at 0 when its loops start
      f.py:5:14
       4 |     for i, j, k in T.grid(8, 12, 7):
       5 |         with T.block("Y"):
         |              ^^^^^^^^^^^^
       6 |             vi, vj, vk = T.axis.remap("SSR", [i, j, k])
  )");
}

TEST(Course, BatchedMatmulRelu) {
  check_schedule(
      R"(
    @T.prim_func
    def bmm_relu(A: T.Buffer((3, 8, 16), "float32"), B: T.Buffer((3, 16, 24), "float32"), C: T.Buffer((3, 8, 24), "float32")):
        T.func_attr({"global_symbol": "bmm_relu", "tir.noalias": True})
        Y = T.alloc_buffer((3, 8, 24), dtype="float32")
        for n, i, j, k in T.grid(3, 8, 24, 16):
            with T.block("Y"):
                vn, vi, vj, vk = T.axis.remap("SSSR", [n, i, j, k])
                with T.init():
                    Y[vn, vi, vj] = T.float32(0)
                Y[vn, vi, vj] = Y[vn, vi, vj] + A[vn, vi, vk] * B[vn, vk, vj]
        for n, i, j in T.grid(3, 8, 24):
            with T.block("C"):
                vn, vi, vj = T.axis.remap("SSS", [n, i, j])
                C[vn, vi, vj] = T.max(Y[vn, vi, vj], T.float32(0))
  )",
      [](Schedule& sch) {
        const BlockRef Y = sch.call("get_block", "Y", "bmm_relu").block();
        const BlockRef C = sch.call("get_block", "C", "bmm_relu").block();
        const auto [b, i, j, k] = sch.call("get_loops", Y).loops<4>();
        const auto [k0, k1] = sch.call("split", k, by(4)).loops<2>();
        const auto [j0, j1] = sch.call("split", j, by(8)).loops<2>();
        sch.call("reorder", b, i, j0, k0, k1, j1);
        sch.call("reverse_compute_at", C, j0);
        const BlockRef Y_init = sch.call("decompose_reduction", Y, k0).block();
        sch.call("vectorize", sch.call("get_loops", Y_init).loops().back());
        sch.call("vectorize", sch.call("get_loops", C).loops().back());
        sch.call("parallel", b);
        sch.call("unroll", k1);
      },
      R"(
    @T.prim_func
    def bmm_relu(A: T.Buffer((3, 8, 16), "float32"), B: T.Buffer((3, 16, 24), "float32"), C: T.Buffer((3, 8, 24), "float32")):
        T.func_attr({"global_symbol": "bmm_relu", "tir.noalias": True})
        Y = T.alloc_buffer((3, 8, 24), dtype="float32")
        for i0 in T.parallel(3):
            for i1, i2_0 in T.grid(8, 3):
                for ax0_init in T.vectorized(8):
                    with T.block("Y_init"):
                        n, i = T.axis.remap("SS", [i0, i1])
                        j = T.axis.spatial(24, i2_0 * 8 + ax0_init)
                        Y[n, i, j] = T.float32(0)
                for ax1_0 in T.serial(4):
                    for ax1_1 in T.unroll(4):
                        for ax0 in T.serial(8):
                            with T.block("Y_update"):
                                n, i = T.axis.remap("SS", [i0, i1])
                                j = T.axis.spatial(24, i2_0 * 8 + ax0)
                                k = T.axis.reduce(16, ax1_0 * 4 + ax1_1)
                                Y[n, i, j] = Y[n, i, j] + A[n, i, k] * B[n, k, j]
                for i2_1 in T.vectorized(8):
                    with T.block("C"):
                        n, i = T.axis.remap("SS", [i0, i1])
                        j = T.axis.spatial(24, i2_0 * 8 + i2_1)
                        C[n, i, j] = T.max(Y[n, i, j], T.float32(0))
  )");
}

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

TEST(ComputeAt, OutputIsRefused) {
  check_refused(
      kBlur, [](Schedule& sch) { sch.call("compute_at", "C", sch.call("get_loops", "B").loops()[0]); }, R"(
    error: compute_at: block C cannot be moved: block C writes C, a parameter of the function
      f.py:9:14
       8 |     for i in range(16):
       9 |         with T.block("C"):
         |              ^^^^^^^^^^^^
      10 |             vi = T.axis.spatial(16, i)
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

}  // namespace
}  // namespace tilewright::schedule
