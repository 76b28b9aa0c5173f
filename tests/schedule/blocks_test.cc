// Inlining, caches, tiles as blocks, partial results, layouts.
#include "schedule_testing.h"
#include "tilewright/schedule/intrinsics/tensor_intrin.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

Factors by(int64_t factor) { return {None{}, factor}; }

constexpr std::string_view kTwoSteps = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((7, 5), "float32")):
        B = T.alloc_buffer((5, 7))
        for i, j in T.grid(5, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(7, 5):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vj, vi] + T.float32(1)
)";

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

TEST(CacheRead, CopyStandsBeforeTheConsumer) {
  check_schedule(kTwoSteps, [](Schedule& sch) { sch.call("cache_read", "C", 0, "local"); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((7, 5), "float32")):
        B = T.alloc_buffer((5, 7))
        B_local = T.alloc_buffer((5, 7), scope="local")
        for i, j in T.grid(5, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for ax0, ax1 in T.grid(5, 7):
            with T.block("B_local"):
                v0, v1 = T.axis.remap("SS", [ax0, ax1])
                B_local[v0, v1] = B[v0, v1]
        for i, j in T.grid(7, 5):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B_local[vj, vi] + T.float32(1)
  )");
}

TEST(CacheRead, CopyBeforeTheWriterIsRefused) {
  check_refused(
      R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32"), C: T.Buffer((7,), "float32"), D: T.Buffer((7,), "float32")):
        B = T.alloc_buffer((7,))
        for i in range(7):
            with T.block("B"):
                vi = T.axis.spatial(7, i)
                B[vi] = A[vi] * T.float32(2)
            with T.block("C"):
                vi = T.axis.spatial(7, i)
                C[vi] = B[vi] + T.float32(1)
        for i in range(7):
            with T.block("D"):
                vi = T.axis.spatial(7, i)
                D[vi] = B[vi] + T.float32(2)
  )",
      [](Schedule& sch) { sch.call("cache_read", "C", 0, "local"); }, R"(
    error: cache_read: block B writes B inside of loop i, before which the copy would be made
      f.py:5:14
       4 |     for i in range(7):
       5 |         with T.block("B"):
         |              ^^^^^^^^^^^^
       6 |             vi = T.axis.spatial(7, i)
    help: name the consumers inside of that loop as consumer_blocks
  )");
}

// D is computed in the loop that writes B, C behind it: the copy stands before both.
TEST(CacheWrite, EachReaderFindsTheCopyBeforeIt) {
  check_schedule(
      R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32"), D: T.Buffer((5, 7), "float32")):
        B = T.alloc_buffer((5, 7))
        for i in range(5):
            for j in range(7):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = A[vi, vj] * T.float32(2)
            for j in range(7):
                with T.block("D"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    D[vi, vj] = B[vi, vj] + T.float32(1)
        for i, j in T.grid(5, 7):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj]
  )",
      [](Schedule& sch) { sch.call("cache_write", "B", 0, "local"); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32"), D: T.Buffer((5, 7), "float32")):
        B = T.alloc_buffer((5, 7))
        B_local = T.alloc_buffer((5, 7), scope="local")
        for i in range(5):
            for j in range(7):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B_local[vi, vj] = A[vi, vj] * T.float32(2)
            for ax0, ax1 in T.grid(1, 7):
                with T.block("B_local"):
                    v0 = T.axis.spatial(5, i + ax0)
                    v1 = T.axis.spatial(7, ax1)
                    B[v0, v1] = B_local[v0, v1]
            for j in range(7):
                with T.block("D"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    D[vi, vj] = B[vi, vj] + T.float32(1)
        for i, j in T.grid(5, 7):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj]
  )");
}

TEST(CacheWrite, CopyStandsBehindTheBlock) {
  check_schedule(kTwoSteps, [](Schedule& sch) { sch.call("cache_write", "C", 0, "local"); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((7, 5), "float32")):
        B = T.alloc_buffer((5, 7))
        C_local = T.alloc_buffer((7, 5), scope="local")
        for i, j in T.grid(5, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(7, 5):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C_local[vi, vj] = B[vj, vi] + T.float32(1)
        for ax0, ax1 in T.grid(7, 5):
            with T.block("C"):
                v0, v1 = T.axis.remap("SS", [ax0, ax1])
                C[v0, v1] = C_local[v0, v1]
  )");
}

constexpr std::string_view kSum = R"(
    @T.prim_func
    def main(A: T.Buffer((5, 12), "float32"), Y: T.Buffer((5,), "float32")):
        for i, k in T.grid(5, 12):
            with T.block("Y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + A[vi, vk]
)";

TEST(Rfactor, PartialSums) {
  check_schedule(
      kSum,
      [](Schedule& sch) {
        const auto [i, k] = sch.call("get_loops", "Y").loops<2>();
        const auto [k0, k1] = sch.call("split", k, by(4)).loops<2>();
        sch.call("rfactor", k1, 0);
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((5, 12), "float32"), Y: T.Buffer((5,), "float32")):
        Y_rf = T.alloc_buffer((4, 5))
        for i, k_0, k_1 in T.grid(5, 3, 4):
            with T.block("Y_rf"):
                vk_1 = T.axis.spatial(4, k_1)
                vi = T.axis.spatial(5, i)
                vk_0 = T.axis.reduce(3, k_0)
                with T.init():
                    Y_rf[vk_1, vi] = T.float32(0)
                Y_rf[vk_1, vi] = Y_rf[vk_1, vi] + A[vi, vk_0 * 4 + vk_1]
        for ax0, ax1 in T.grid(5, 4):
            with T.block("Y"):
                vk_1 = T.axis.reduce(4, ax1)
                vi = T.axis.spatial(5, ax0)
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + Y_rf[vk_1, vi]
  )");
}

TEST(Rfactor, UnstartedPartialSumIsRefused) {
  check_refused(
      kSum,
      [](Schedule& sch) {
        const auto [i, k] = sch.call("get_loops", "Y").loops<2>();
        const auto [k0, k1] = sch.call("split", k, Factors{int64_t{1}, int64_t{16}}).loops<2>();
        sch.call("rfactor", k1, 0);
      },
      R"(
    error: rfactor: block Y is guarded by k_0 * 16 + k_1 < 12, which may leave iterations of loop k_1 without any term
      f.py:4:14
       3 |     for i, k in T.grid(5, 12):
       4 |         with T.block("Y"):
         |              ^^^^^^^^^^^^
       5 |             vi, vk = T.axis.remap("SR", [i, k])
    help: rfactor(loop k_0, 0) would be legal
  )");
}

// Random schedules 7075: the block around has the loop over c, and each of its runs began the sum anew.
TEST(Rfactor, SumThatGoesOnOutsideOfTheBlockAroundIsRefused) {
  check_refused(
      R"(
    @T.prim_func
    def main(A: T.Buffer((2, 3), "float32"), Y: T.Buffer((1,), "float32")):
        for c in range(2):
            with T.block("outer"):
                vc = T.axis.opaque(2, c)
                for k in range(3):
                    with T.block("Y"):
                        v0 = T.axis.spatial(1, 0)
                        vr = T.axis.reduce(2, vc)
                        vk = T.axis.reduce(3, k)
                        with T.init():
                            Y[v0] = T.float32(0)
                        Y[v0] = Y[v0] + A[vr, vk]
  )",
      [](Schedule& sch) { sch.call("rfactor", sch.call("get_loops", "Y").loops()[0], 0); },
      R"(
    error: rfactor: block Y cannot be factored: the sum of block Y does not start inside of block outer
      f.py:7:22
       6 |             for k in range(3):
       7 |                 with T.block("Y"):
         |                      ^^^^^^^^^^^^
       8 |                     v0 = T.axis.spatial(1, 0)
  )");
}

TEST(Blockize, TileOfAnElementwiseBlock) {
  check_schedule(
      R"(
    @T.prim_func
    def main(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
        for i in range(128):
            with T.block("B"):
                vi = T.axis.spatial(128, i)
                B[vi] = A[vi] * T.float32(2)
  )",
      [](Schedule& sch) {
        const auto [i0, i1] = sch.call("split", sch.call("get_loops", "B").loops()[0], by(16)).loops<2>();
        sch.call("blockize", i1);
      },
      R"(
    @T.prim_func
    def main(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
        for i_0 in range(8):
            with T.block("B_o"):
                vi_o = T.axis.spatial(8, i_0)
                T.reads(A[vi_o * 16:vi_o * 16 + 16])
                T.writes(B[vi_o * 16:vi_o * 16 + 16])
                for i_1 in range(16):
                    with T.block("B"):
                        vi_i = T.axis.spatial(16, i_1)
                        T.reads(A[vi_o * 16 + vi_i])
                        T.writes(B[vi_o * 16 + vi_i])
                        B[vi_o * 16 + vi_i] = A[vi_o * 16 + vi_i] * T.float32(2)
  )");
}

TEST(TransformLayout, IntermediateBuffer) {
  const Var i = make_var("i"), j = make_var("j");
  const IndexMap map = IndexMapNode::make(
      std::vector<Var>{i, j}, std::vector<PrimExpr>{floordiv(PrimExpr(j), 4), i, floormod(PrimExpr(j), 4)});
  check_schedule(
      kTwoSteps,
      [&](Schedule& sch) { sch.call("transform_layout", "B", ArgValue{"write", 0}, ObjectRef(map)); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((7, 5), "float32")):
        B = T.alloc_buffer((2, 5, 4))
        for i, j in T.grid(5, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vj // 4, vi, vj % 4] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(7, 5):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi // 4, vj, vi % 4] + T.float32(1)
  )");
}

TEST(SetScope, IntermediateBuffer) {
  check_schedule(kTwoSteps, [&](Schedule& sch) { sch.call("set_scope", "B", 0, "shared"); }, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), C: T.Buffer((7, 5), "float32")):
        B = T.alloc_buffer((5, 7), scope="shared")
        for i, j in T.grid(5, 7):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(7, 5):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vj, vi] + T.float32(1)
  )");
}

}  // namespace
}  // namespace tilewright::schedule
