// Loops are split where their guards begin to matter.
#include "lower_testing.h"

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/walk.h"

namespace tilewright::lower {
namespace {

// As in the pipeline: the guards go where they hold.
PrimFunc partition(const PrimFunc& func) { return run_step("simplify", run_step("partition_loops", func)); }

TEST(PartitionLoops, LastIterationIsSplitOff) {
  check_pass(partition, R"(
    @T.prim_func
    def main(B: T.Buffer((19,), "float32")):
        for i in range(3):
            for j in T.unroll(8):
                if i * 8 + j < 19:
                    B[i * 8 + j] = T.float32(1)
  )",
             R"(
    @T.prim_func
    def main(B: T.Buffer((19,), "float32")):
        for i in range(2):
            for j in T.unroll(8):
                B[i * 8 + j] = T.float32(1)
        for j in T.unroll(8):
            if j < 3:
                B[j + 16] = T.float32(1)
  )");
}

TEST(PartitionLoops, SeveralLastIterationsStayALoop) {
  check_pass(partition, R"(
    @T.prim_func
    def main(B: T.Buffer((11,), "float32")):
        for i in range(5):
            for j in range(4):
                if i * 4 + j < 11:
                    B[i * 4 + j] = T.float32(1)
  )",
             R"(
    @T.prim_func
    def main(B: T.Buffer((11,), "float32")):
        for i in range(2):
            for j in range(4):
                B[i * 4 + j] = T.float32(1)
        for i in range(2, 5):
            for j in range(4):
                if i * 4 + j < 11:
                    B[i * 4 + j] = T.float32(1)
  )");
}

TEST(PartitionLoops, ParallelLoopChoosesInside) {
  check_pass(partition, R"(
    @T.prim_func
    def main(B: T.Buffer((19,), "float32")):
        for i in T.parallel(3):
            for j in range(8):
                if i * 8 + j < 19:
                    B[i * 8 + j] = T.float32(1)
  )",
             R"(
    @T.prim_func
    def main(B: T.Buffer((19,), "float32")):
        for i in T.parallel(3):
            if i < 2:
                for j in range(8):
                    B[i * 8 + j] = T.float32(1)
            else:
                for j in range(8):
                    if j < 3:
                        B[j + 16] = T.float32(1)
  )");
}

TEST(PartitionLoops, BothGuardsOfATileSplitTheirLoop) {
  check_pass(partition, R"(
    @T.prim_func
    def main(B: T.Buffer((5, 7), "float32")):
        for io, jo in T.grid(2, 2):
            for ii, ji in T.grid(3, 4):
                if io * 3 + ii < 5 and jo * 4 + ji < 7:
                    B[io * 3 + ii, jo * 4 + ji] = T.float32(1)
  )",
             R"(
    @T.prim_func
    def main(B: T.Buffer((5, 7), "float32")):
        for io in range(1):
            for jo, ii, ji in T.grid(1, 3, 4):
                B[ii, ji] = T.float32(1)
            for ii, ji in T.grid(3, 4):
                if ji < 3:
                    B[ii, ji + 4] = T.float32(1)
        for jo, ii, ji in T.grid(1, 3, 4):
            if ii < 2:
                B[ii + 3, ji] = T.float32(1)
        for ii, ji in T.grid(3, 4):
            if ii < 2 and ji < 3:
                B[ii + 3, ji + 4] = T.float32(1)
  )");
}

TEST(PartitionLoops, LoopThatStartsElsewhere) {
  check_pass(partition, R"(
    @T.prim_func
    def main(B: T.Buffer((9,), "float32")):
        for i in range(2, 9):
            if i <= 6:
                B[i] = T.float32(1)
            B[0] = T.float32(2)
  )",
             R"(
    @T.prim_func
    def main(B: T.Buffer((9,), "float32")):
        for i in range(2, 7):
            B[i] = T.float32(1)
            B[0] = T.float32(2)
        for i in range(7, 9):
            B[0] = T.float32(2)
  )");
}

TEST(PartitionLoops, CopiesHaveTheirOwnMemory) {
  constexpr std::string_view kProgram = R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), B: T.Buffer((5,), "float32")):
        for i in range(3):
            Y = T.alloc_buffer((2,), "float32")
            for j in range(2):
                if i * 2 + j < 5:
                    Y[j] = A[i * 2 + j]
            for j in range(2):
                if i * 2 + j < 5:
                    B[i * 2 + j] = Y[j]
  )";
  check_numbers("partition_loops", kProgram);
  std::vector<Buffer> buffers;
  walk(run_step("partition_loops", func_of(kProgram)),
       [&](const AllocBufferNode* allocation) { buffers.push_back(allocation->buffer); });
  ASSERT_EQ(buffers.size(), 2u);
  EXPECT_NE(buffers[0], buffers[1]);
  EXPECT_NE(buffers[0]->data, buffers[1]->data);
}

TEST(PartitionLoops, CopiesHaveTheirOwnViews) {
  check_numbers("partition_loops", R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), B: T.Buffer((5,), "float32")):
        for i in range(3):
            Y = T.alloc_buffer((2,), "float32")
            V = T.decl_buffer((1, 2), "float32", data=Y.data)
            for j in range(2):
                if i * 2 + j < 5:
                    V[0, j] = A[i * 2 + j]
            for j in range(2):
                if i * 2 + j < 5:
                    B[i * 2 + j] = Y[j] + V[0, j]
  )");
}

TEST(PartitionLoops, LoopsWithoutGuardsAreLeftAlone) {
  check_unchanged("partition_loops", R"(
    @T.prim_func
    def main(B: T.Buffer((8,), "float32")):
        for i in range(8):
            B[i] = T.float32(1)
  )");
}

TEST(PartitionLoops, GuardsThatAlwaysHoldAreLeftAlone) {
  check_unchanged("partition_loops", R"(
    @T.prim_func
    def main(B: T.Buffer((8,), "float32")):
        for i in range(8):
            if i < 9:
                B[i] = T.float32(1)
  )");
}

TEST(PartitionLoops, GuardsThatNeverHoldAreLeftAlone) {
  check_unchanged("partition_loops", R"(
    @T.prim_func
    def main(B: T.Buffer((8,), "float32")):
        for i in range(8):
            if i < 0:
                B[i] = T.float32(1)
  )");
}

TEST(PartitionLoops, GuardsBelowAreLeftAlone) {
  check_unchanged("partition_loops", R"(
    @T.prim_func
    def main(B: T.Buffer((8,), "float32")):
        for i in range(8):
            if 2 <= i:
                B[i] = T.float32(1)
  )");
}

TEST(PartitionLoops, GuardsByValuesAreLeftAlone) {
  check_unchanged("partition_loops", R"(
    @T.prim_func
    def main(n: T.int32, A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "float32")):
        for i in range(8):
            if i < n and i < A[0]:
                B[i] = T.float32(1)
  )");
}

TEST(PartitionLoops, LoopsOfUnknownExtentAreLeftAlone) {
  check_unchanged("partition_loops", R"(
    @T.prim_func
    def main(n: T.int32, B: T.Buffer((8,), "float32")):
        for i in range(n):
            if i < 5:
                B[i] = T.float32(1)
  )");
}

TEST(PartitionLoops, VectorsAndExpandedLoopsAreLeftAlone) {
  check_unchanged("partition_loops", R"(
    @T.prim_func
    def main(B: T.Buffer((8,), "float32")):
        for i in T.vectorized(8):
            if i < 5:
                B[i] = T.float32(1)
        for i in T.unroll(8):
            if i < 5:
                B[i] = T.float32(1)
  )");
}

TEST(PartitionLoops, FusedLoopChoosesInsideByItsParts) {
  check_pass(partition, R"(
    @T.prim_func
    def main(B: T.Buffer((5, 19), "float32")):
        for f in T.parallel(15):
            for j in T.unroll(8):
                if f % 3 * 8 + j < 19:
                    B[f // 3, f % 3 * 8 + j] = T.float32(1)
  )",
             R"(
    @T.prim_func
    def main(B: T.Buffer((5, 19), "float32")):
        for f in T.parallel(15):
            q: T.int32 = f % 3
            if q < 2:
                for j in T.unroll(8):
                    B[f // 3, q * 8 + j] = T.float32(1)
            else:
                for j in T.unroll(8):
                    if j < 3:
                        B[f // 3, j + 16] = T.float32(1)
  )");
}

TEST(PartitionLoops, FusedLoopsOfTwoGuardsChooseTwice) {
  check_pass(partition, R"(
    @T.prim_func
    def main(B: T.Buffer((3, 7), "float32")):
        for f in range(4):
            for i in T.unroll(2):
                for j in T.unroll(4):
                    if f // 2 * 2 + i < 3 and f % 2 * 4 + j < 7:
                        B[f // 2 * 2 + i, f % 2 * 4 + j] = T.float32(1)
  )",
             R"(
    @T.prim_func
    def main(B: T.Buffer((3, 7), "float32")):
        for f in range(4):
            q: T.int32 = f % 2
            if q < 1:
                q_1: T.int32 = f // 2
                if q_1 < 1:
                    for i in T.unroll(2):
                        for j in T.unroll(4):
                            B[i, j] = T.float32(1)
                else:
                    for i in T.unroll(2):
                        for j in T.unroll(4):
                            if i < 1:
                                B[2, j] = T.float32(1)
            else:
                q_1: T.int32 = f // 2
                if q_1 < 1:
                    for i in T.unroll(2):
                        for j in T.unroll(4):
                            if j < 3:
                                B[i, j + 4] = T.float32(1)
                else:
                    for i in T.unroll(2):
                        for j in T.unroll(4):
                            if i < 1 and j < 3:
                                B[2, j + 4] = T.float32(1)
  )");
}

TEST(PartitionLoops, PartsOfOtherVariablesAndOpenGuardsStay) {
  check_unchanged("partition_loops", R"(
    @T.prim_func
    def main(B: T.Buffer((64,), "float32"), n: T.int32):
        for f in range(15):
            for j in range(4):
                if f % 3 * 4 + j < n:
                    B[f // 3 * 12 + f % 3 * 4 + j] = T.float32(1)
                if f % n < 2:
                    B[f] = T.float32(2)
                if (f + 1) % 3 < 2:
                    B[f + 15] = T.float32(3)
                if f // -3 < -1:
                    B[f + 30] = T.float32(4)
        for f in range(1, 15):
            if f % 3 < 2:
                B[f] = T.float32(5)
  )");
}

TEST(PartitionLoops, SumsOfAnOpenNumberOfRowsHaveNoGuards) {
  check_pass(partition, R"(
    @T.prim_func
    def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), n: T.int32):
        for i in range((n + 3) // 4):
            S = T.decl_buffer((4,), "float32", scope="local")
            for j in T.unroll(4):
                if i * 4 + j < n:
                    S[j] = A[i * 4 + j]
            for j in T.unroll(4):
                if i * 4 + j < n:
                    B[i * 4 + j] = S[j]
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), n: T.int32):
        num_tiles: T.int32 = (n + 1) // 4
        for i in range(num_tiles):
            S = T.decl_buffer((4,), scope="local")
            for j in T.unroll(4):
                S[j] = A[T.min(i * 4 + j, n - 1)]
            for j in T.unroll(4):
                if i * 4 + j < n:
                    B[i * 4 + j] = S[j]
        rest: T.int32 = n - num_tiles * 4
        if num_tiles * 4 < n:
            if rest < 2:
                S = T.decl_buffer((4,), scope="local")
                for j in T.unroll(4):
                    if j < 1:
                        S[0] = A[n - 1]
                for j in T.unroll(4):
                    if j < 1:
                        B[num_tiles * 4] = S[0]
            else:
                S = T.decl_buffer((4,), scope="local")
                for j in T.unroll(4):
                    if j < 2:
                        S[j] = A[num_tiles * 4 + j]
                for j in T.unroll(4):
                    if j < 2:
                        B[num_tiles * 4 + j] = S[j]
  )");
}

TEST(PartitionLoops, SmallTilesOfOpenRowsFetchLessFarAhead) {
  check_pass(partition, R"(
    @T.prim_func
    def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), n: T.int32):
        for i in range((n + 1) // 2):
            S = T.decl_buffer((2,), "float32", scope="local")
            for k in T.serial(9, annotations={"prefetch_ahead": 8192, "prefetch_ahead_of_few": 2048}):
                for j in T.unroll(2):
                    if i * 2 + j < n:
                        S[j] = A[i * 2 + j] * B[k]
            for j in T.unroll(2):
                if i * 2 + j < n:
                    B[i * 2 + j] = S[j]
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), n: T.int32):
        num_tiles: T.int32 = n // 2
        for i in range(num_tiles):
            S = T.decl_buffer((2,), scope="local")
            for k in T.serial(9, annotations={"prefetch_ahead": 8192, "prefetch_ahead_of_few": 2048}):
                for j in T.unroll(2):
                    S[j] = A[i * 2 + j] * B[k]
            for j in T.unroll(2):
                B[i * 2 + j] = S[j]
        rest: T.int32 = n - num_tiles * 2
        if num_tiles * 2 < n:
            S = T.decl_buffer((2,), scope="local")
            for k in T.serial(9, annotations={"prefetch_ahead": 2048, "prefetch_ahead_of_few": 2048}):
                for j in T.unroll(2):
                    if j < 1:
                        S[0] = A[n - 1] * B[k]
            for j in T.unroll(2):
                if j < 1:
                    B[num_tiles * 2] = S[0]
  )");
}

TEST(PartitionLoops, WholeVectorsOfAnOpenNumberHaveNoGuards) {
  check_pass(partition, R"(
    @T.prim_func
    def main(B: T.Buffer((64,), "float32"), n: T.int32):
        for i in T.parallel((n + 7) // 8):
            for j in T.vectorized(8):
                if i * 8 + j < n:
                    B[i * 8 + j] = T.float32(1)
  )",
             R"(
    @T.prim_func
    def main(B: T.Buffer((64,), "float32"), n: T.int32):
        for i in T.parallel((n + 7) // 8):
            if i * 8 + 7 < n:
                for j in T.vectorized(8):
                    B[i * 8 + j] = T.float32(1)
            else:
                for j in T.vectorized(8):
                    if i * 8 + j < n:
                        B[i * 8 + j] = T.float32(1)
  )");
}

TEST(PartitionLoops, WholeTilesOfRowsThatAreReadInAnotherWayHaveNoGuards) {
  check_pass(partition, R"(
    @T.prim_func
    def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), n: T.int32):
        for i in range((n + 2) // 3):
            S = T.decl_buffer((3,), "float32", scope="local")
            for j in T.unroll(3):
                if i * 3 + j < n:
                    S[j] = A[63 - i * 3 - j]
            for j in T.unroll(3):
                if i * 3 + j < n:
                    B[i * 3 + j] = S[j]
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), n: T.int32):
        for i in range((n + 2) // 3):
            if i * 3 + 2 < n:
                S = T.decl_buffer((3,), "float32", scope="local")
                for j in T.unroll(3):
                    S[j] = A[63 - i * 3 - j]
                for j in T.unroll(3):
                    B[i * 3 + j] = S[j]
            else:
                S = T.decl_buffer((3,), "float32", scope="local")
                for j in T.unroll(3):
                    if i * 3 + j < n:
                        S[j] = A[63 - i * 3 - j]
                for j in T.unroll(3):
                    if i * 3 + j < n:
                        B[i * 3 + j] = S[j]
  )");
}

TEST(PartitionLoops, GuardsThatDivideByASizeWhichMayBeZeroStay) {
  check_unchanged("partition_loops", R"(
    @T.prim_func
    def main(B: T.Buffer((64,), "float32"), n: T.int32, m: T.int32):
        for i in T.parallel(n):
            for k in range(m):
                for j in T.unroll(4):
                    if i // m * 4 + j < n:
                        B[j] = T.float32(1)
  )");
}

TEST(PartitionLoops, WholeTilesOfAFusedLoopOfOpenExtentsHaveNoGuards) {
  check_pass(partition, R"(
    @T.prim_func
    def main(B: T.Buffer((64, 64), "float32"), n: T.int32, m: T.int32):
        for f in T.parallel(n * m):
            for j in T.unroll(4):
                if f // m * 4 + j < n:
                    B[f % m, j] = T.float32(1)
  )",
             R"(
    @T.prim_func
    def main(B: T.Buffer((64, 64), "float32"), n: T.int32, m: T.int32):
        for f in T.parallel(n * m):
            if f // m * 4 + 3 < n:
                for j in T.unroll(4):
                    B[f % m, j] = T.float32(1)
            else:
                for j in T.unroll(4):
                    if f // m * 4 + j < n:
                        B[f % m, j] = T.float32(1)
  )");
}

}  // namespace
}  // namespace tilewright::lower
