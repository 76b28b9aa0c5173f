// Buffers that do not live at the same time share memory.
#include "lower_testing.h"

namespace tilewright::lower {
namespace {

TEST(ShareStorage, TheThirdOfAChainTakesTheFirstsMemory) {
  check_pass("share_storage", R"(
    @T.prim_func
    def main(X: T.Buffer((7,), "float32"), Y: T.Buffer((7,), "float32")):
        A = T.alloc_buffer((7,), "float32")
        B = T.alloc_buffer((7,), "float32")
        C = T.alloc_buffer((7,), "float32")
        for i in range(7):
            A[i] = X[i] + T.float32(1)
        for i in range(7):
            B[i] = A[i] * T.float32(2)
        for i in range(7):
            C[i] = B[i] + T.float32(3)
        for i in range(7):
            Y[i] = C[i]
  )",
             R"(
    @T.prim_func
    def main(X: T.Buffer((7,), "float32"), Y: T.Buffer((7,), "float32")):
        A = T.alloc_buffer((7,), "float32")
        B = T.alloc_buffer((7,), "float32")
        for i in range(7):
            A[i] = X[i] + T.float32(1)
        for i in range(7):
            B[i] = A[i] * T.float32(2)
        for i in range(7):
            A[i] = B[i] + T.float32(3)
        for i in range(7):
            Y[i] = A[i]
  )");
}

TEST(ShareStorage, TheMemoryIsAsLargeAsTheLargest) {
  check_pass("share_storage", R"(
    @T.prim_func
    def main(X: T.Buffer((127,), "float32"), Y: T.Buffer((127,), "float32")):
        A = T.alloc_buffer((5,), "float32")
        B = T.alloc_buffer((127,), "float32")
        for i in range(5):
            A[i] = X[i]
        for i in range(5):
            Y[i] = A[i]
        for i in range(127):
            B[i] = X[i] + T.float32(1)
        for i in range(127):
            Y[i] = Y[i] + B[i]
  )",
             R"(
    @T.prim_func
    def main(X: T.Buffer((127,), "float32"), Y: T.Buffer((127,), "float32")):
        A = T.alloc_buffer((127,), "float32")
        for i in range(5):
            A[i] = X[i]
        for i in range(5):
            Y[i] = A[i]
        for i in range(127):
            A[i] = X[i] + T.float32(1)
        for i in range(127):
            Y[i] = Y[i] + A[i]
  )");
}

TEST(ShareStorage, BuffersInsideALoopShareToo) {
  check_numbers("share_storage", R"(
    @T.prim_func
    def main(X: T.Buffer((5, 7), "float32"), Y: T.Buffer((5, 7), "float32")):
        for n in range(5):
            A = T.alloc_buffer((7,), "float32")
            B = T.alloc_buffer((7,), "float32")
            for i in range(7):
                A[i] = X[n, i] + T.float32(1)
            for i in range(7):
                Y[n, i] = A[i]
            for i in range(7):
                B[i] = Y[n, i] * T.float32(2)
            for i in range(7):
                Y[n, i] = B[i]
  )");
}

TEST(ShareStorage, BuffersThatLiveTogetherStay) {
  check_unchanged("share_storage", R"(
    @T.prim_func
    def main(X: T.Buffer((7,), "float32"), Y: T.Buffer((7,), "float32")):
        A = T.alloc_buffer((7,), "float32")
        B = T.alloc_buffer((7,), "float32")
        for i in range(7):
            A[i] = X[i]
        for i in range(7):
            B[i] = A[i] * T.float32(2)
        for i in range(7):
            Y[i] = A[i] + B[i]
  )");
}

TEST(ShareStorage, OtherTypesAndRegistersStay) {
  check_unchanged("share_storage", R"(
    @T.prim_func
    def main(X: T.Buffer((7,), "float32"), Y: T.Buffer((7,), "float32")):
        A = T.alloc_buffer((7,), "float32")
        B = T.alloc_buffer((7,), "int32")
        C = T.alloc_buffer((7,), "float32", scope="local")
        for i in range(7):
            A[i] = X[i]
        for i in range(7):
            Y[i] = A[i]
        for i in range(7):
            B[i] = i
        for i in range(7):
            Y[i] = Y[i] + T.Cast("float32", B[i])
        for i in range(7):
            C[i] = X[i]
        for i in range(7):
            Y[i] = Y[i] + C[i]
  )");
}

}  // namespace
}  // namespace tilewright::lower
