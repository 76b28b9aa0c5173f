// Memory only as large as what is touched.
#include "lower_testing.h"

namespace tilewright::lower {
namespace {

TEST(CompactBuffers, TileInsideOfALoop) {
  check_pass("compact_buffers", R"(
    @T.prim_func
    def main(A: T.Buffer((20, 7), "float32"), B: T.Buffer((20, 7), "float32")):
        for i in range(5):
            Y = T.alloc_buffer((20, 7), "float32")
            for j, k in T.grid(4, 7):
                Y[i * 4 + j, k] = A[i * 4 + j, k]
            for j, k in T.grid(4, 7):
                B[i * 4 + j, k] = Y[i * 4 + j, k]
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((20, 7), "float32"), B: T.Buffer((20, 7), "float32")):
        for i in range(5):
            Y = T.alloc_buffer((4, 7), "float32")
            for j, k in T.grid(4, 7):
                Y[j, k] = A[i * 4 + j, k]
            for j, k in T.grid(4, 7):
                B[i * 4 + j, k] = Y[j, k]
  )");
}

TEST(CompactBuffers, GuardsBoundWhatIsTouched) {
  check_pass("compact_buffers", R"(
    @T.prim_func
    def main(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
        Y = T.alloc_buffer((128,), "float32")
        for i in range(128):
            if i < 5:
                Y[i] = A[i]
        for i in range(5):
            B[i] = Y[i]
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
        Y = T.alloc_buffer((5,), "float32")
        for i in range(128):
            if i < 5:
                Y[i] = A[i]
        for i in range(5):
            B[i] = Y[i]
  )");
}

TEST(CompactBuffers, RegistersHoldWholeVectors) {
  check_pass("compact_buffers", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5, 7), "float32")):
        for i in range(5):
            Y = T.alloc_buffer((5, 7), "float32", scope="local")
            for j in T.vectorized(8):
                if j < 7:
                    Y[i, j] = A[i, j]
            for j in T.vectorized(8):
                if j < 7:
                    B[i, j] = Y[i, j]
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5, 7), "float32")):
        for i in range(5):
            Y = T.alloc_buffer((1, 8), "float32", scope="local")
            for j in T.vectorized(8):
                if j < 7:
                    Y[0, j] = A[i, j]
            for j in T.vectorized(8):
                if j < 7:
                    B[i, j] = Y[0, j]
  )");
}

TEST(CompactBuffers, LetsHaveTheRangeOfTheirValue) {
  check_pass("compact_buffers", R"(
    @T.prim_func
    def main(B: T.Buffer((5,), "float32")):
        Y = T.alloc_buffer((128,), "float32")
        for i in range(5):
            x: T.int32 = i + 100
            Y[x] = T.float32(1)
            B[i] = Y[x]
  )",
             R"(
    @T.prim_func
    def main(B: T.Buffer((5,), "float32")):
        Y = T.alloc_buffer((5,), "float32")
        for i in range(5):
            x: T.int32 = i + 100
            Y[x - 100] = T.float32(1)
            B[i] = Y[x - 100]
  )");
}

TEST(CompactBuffers, VectorsTouchFromTheirFirstToTheirLastElement) {
  check_pass("compact_buffers", R"(
    @T.prim_func
    def main(A: T.Buffer((640,), "float32"), B: T.Buffer((640,), "float32")):
        for i in range(10):
            Y = T.alloc_buffer((640,), "float32")
            for j in range(4):
                Y[i * 64 + j * 16:i * 64 + j * 16 + 16] = A[i * 64 + j * 16:i * 64 + j * 16 + 16]
            B[T.Ramp(i * 64, 2, 8)] = Y[T.Ramp(i * 64, 2, 8)]
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((640,), "float32"), B: T.Buffer((640,), "float32")):
        for i in range(10):
            Y = T.alloc_buffer((64,), "float32")
            for j in range(4):
                Y[j * 16:j * 16 + 16] = A[i * 64 + j * 16:i * 64 + j * 16 + 16]
            B[T.Ramp(i * 64, 2, 8)] = Y[T.Ramp(0, 2, 8)]
  )");
}

TEST(CompactBuffers, VectorsMayHaveOtherIntegersThanTheBuffer) {
  check_numbers("compact_buffers", R"(
    @T.prim_func
    def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        for i in range(4):
            Y = T.alloc_buffer((T.int64(64),), "float32")
            Y[T.Ramp(i * 16, 1, 16)] = A[T.Ramp(i * 16, 1, 16)]
            B[T.Ramp(i * 16, 1, 16)] = Y[T.Ramp(i * 16, 1, 16)]
  )");
}

TEST(CompactBuffers, OtherVectorsKeepEverything) {
  check_unchanged("compact_buffers", R"(
    @T.prim_func
    def main(A: T.Buffer((640,), "float32"), B: T.Buffer((640,), "float32")):
        for i in range(10):
            Y = T.alloc_buffer((640,), "float32")
            Y[i * 64:i * 64 + 64] = A[i * 64:i * 64 + 64]
            B[T.Ramp(i * 64, 1, 8)] = Y[T.Ramp(i * 64 + 63, -1, 8)]
  )");
}

TEST(CompactBuffers, LetExpressionsHaveTheRangeOfTheirValue) {
  check_unchanged("compact_buffers", R"(
    @T.prim_func
    def main(B: T.Buffer((5,), "float32")):
        Y = T.alloc_buffer((5,), "float32")
        for i in range(5):
            Y[i] = T.float32(1)
        for i in range(5):
            x = T.var("int32")
            B[i] = T.Let(Y[x], where={x: 4 - i})
  )");
}

TEST(CompactBuffers, IndicesFromMemoryMayBeAnything) {
  check_unchanged("compact_buffers", R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "int32"), B: T.Buffer((5,), "float32")):
        Y = T.alloc_buffer((128,), "float32")
        for i in range(128):
            Y[i] = T.float32(1)
        for i in range(5):
            B[i] = Y[A[i]]
  )");
  check_unchanged("compact_buffers", R"(
    @T.prim_func
    def main(A: T.Buffer((5,), "int32"), B: T.Buffer((5,), "float32")):
        Y = T.alloc_buffer((128,), "float32")
        for i in range(5):
            Y[A[i]] = T.float32(1)
            A[i] = A[i] + 1
            Y[A[i]] = T.float32(2)
  )");
}

TEST(CompactBuffers, WhileLoopsMoveWhatIsTouched) {
  check_unchanged("compact_buffers", R"(
    @T.prim_func
    def main(n: T.Buffer((1,), "int32"), B: T.Buffer((8,), "float32")):
        Y = T.alloc_buffer((128,), "float32")
        n[0] = 0
        while n[0] < 8:
            Y[n[0]] = T.float32(1)
            B[n[0]] = Y[n[0]]
            n[0] = n[0] + 1
  )");
}

TEST(CompactBuffers, UnknownExtentKeepsTheDimension) {
  check_unchanged("compact_buffers", R"(
    @T.prim_func
    def main(n: T.int32, B: T.Buffer((128,), "float32")):
        Y = T.alloc_buffer((128,), "float32")
        for i in range(n):
            Y[i] = T.float32(1)
        for i in range(n):
            B[i] = Y[i]
  )");
}

TEST(CompactBuffers, TakenAddressKeepsEverything) {
  check_unchanged("compact_buffers", R"(
    @T.prim_func
    def main(B: T.Buffer((5,), "float32")):
        Y = T.alloc_buffer((128,), "float32")
        V = T.decl_buffer((2, 64), "float32", data=Y.data)
        for i in range(5):
            V[0, i] = T.float32(1)
            B[i] = Y[i]
  )");
}

TEST(CompactBuffers, WholeBuffersAndParametersAreLeftAlone) {
  check_unchanged("compact_buffers", R"(
    @T.prim_func
    def main(A: T.Buffer((128,), "float32"), B: T.Buffer((5,), "float32")):
        Y = T.alloc_buffer((5,), "float32")
        for i in range(5):
            Y[i] = A[i]
        for i in range(5):
            B[i] = Y[i]
  )");
}

}  // namespace
}  // namespace tilewright::lower
