// Loops marked unrolled become copies.
#include "lower_testing.h"

#include "tilewright/ir/walk.h"

namespace tilewright::lower {
namespace {

TEST(UnrollLoops, BodyIsCopied) {
  check_pass("unroll_loops", R"(
    @T.prim_func
    def main(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
        for i in T.unroll(3):
            B[i] = A[i] + T.float32(1)
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
        B[0] = A[0] + T.float32(1)
        B[1] = A[1] + T.float32(1)
        B[2] = A[2] + T.float32(1)
  )");
}

TEST(UnrollLoops, LoopThatStartsElsewhereInsideOfAnother) {
  check_pass("unroll_loops", R"(
    @T.prim_func
    def main(B: T.Buffer((2, 5), "float32")):
        for i in T.unroll(2):
            for j in T.unroll(3, 5):
                B[i, j] = T.float32(1)
  )",
             R"(
    @T.prim_func
    def main(B: T.Buffer((2, 5), "float32")):
        B[0, 3] = T.float32(1)
        B[0, 4] = T.float32(1)
        B[1, 3] = T.float32(1)
        B[1, 4] = T.float32(1)
  )");
}

TEST(UnrollLoops, CopiesHaveTheirOwnMemory) {
  constexpr std::string_view kProgram = R"(
    @T.prim_func
    def main(A: T.Buffer((2,), "float32")):
        for i in T.unroll(2):
            Y = T.alloc_buffer((1,), "float32")
            Y[0] = A[i]
            A[i] = Y[0] + Y[0]
  )";
  check_numbers("unroll_loops", kProgram);
  std::vector<Buffer> buffers;
  walk(run_step("unroll_loops", func_of(kProgram)),
       [&](const AllocBufferNode* allocation) { buffers.push_back(allocation->buffer); });
  ASSERT_EQ(buffers.size(), 2u);
  EXPECT_NE(buffers[0], buffers[1]);
  EXPECT_NE(buffers[0]->data, buffers[1]->data);
}

TEST(UnrollLoops, NoIterationLeavesNothing) {
  check_pass("unroll_loops", R"(
    @T.prim_func
    def main(B: T.Buffer((3,), "float32")):
        for i in T.unroll(0):
            B[i] = T.float32(1)
  )",
             R"(
    @T.prim_func
    def main(B: T.Buffer((3,), "float32")):
        T.evaluate(0)
  )");
}

TEST(UnrollLoops, OtherLoopsAreLeftAlone) {
  check_unchanged("unroll_loops", R"(
    @T.prim_func
    def main(B: T.Buffer((3, 4), "float32")):
        for i in T.parallel(3):
            for j in T.vectorized(4):
                B[i, j] = T.float32(1)
  )");
}

TEST(UnrollLoops, UnknownExtentIsLeftToTheCodeGenerator) {
  check_pass("unroll_loops", R"(
    @T.prim_func
    def main(n: T.int32, B: T.Buffer((8,), "float32")):
        for i in T.unroll(n):
            B[i] = T.float32(1)
  )",
             R"(
    @T.prim_func
    def main(n: T.int32, B: T.Buffer((8,), "float32")):
        for i in T.serial(n, annotations={"pragma_unroll": True}):
            B[i] = T.float32(1)
  )");
}

TEST(UnrollLoops, TooManyCopiesAreLeftToTheCodeGenerator) {
  check_pass("unroll_loops", R"(
    @T.prim_func
    def main(B: T.Buffer((1025,), "float32")):
        for i in T.unroll(1025):
            B[i] = T.float32(1)
  )",
             R"(
    @T.prim_func
    def main(B: T.Buffer((1025,), "float32")):
        for i in T.serial(1025, annotations={"pragma_unroll": True}):
            B[i] = T.float32(1)
  )");
}

TEST(UnrollLoops, NestedLoopsDoNotExplode) {
  const PrimFunc found = run_step("unroll_loops", func_of(R"(
    @T.prim_func
    def main(B: T.Buffer((1000, 1000, 1000), "float32")):
        for i in T.unroll(1000):
            for j in T.unroll(1000):
                for k in T.unroll(1000):
                    B[i, j, k] = T.float32(1)
  )"));
  int num_stores = 0;
  walk(found, [&](const BufferStoreNode*) { ++num_stores; });
  EXPECT_EQ(num_stores, 1000);
}

}  // namespace
}  // namespace tilewright::lower
