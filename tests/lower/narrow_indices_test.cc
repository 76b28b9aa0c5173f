// Loops and indices of int64 become int32 where all values fit.
#include "lower_testing.h"

namespace tilewright::lower {
namespace {

TEST(NarrowIndices, LoopsAndIndicesThatFit) {
  check_pass("narrow_indices", R"(
    @T.prim_func
    def main(Y: T.Buffer((T.int64(35),), "int32")):
        for i, j in T.grid(T.int64(5), T.int64(7)):
            if i * T.int64(7) + j < T.int64(33):
                Y[i * T.int64(7) + j] = T.Cast("int32", j)
  )",
             R"(
    @T.prim_func
    def main(Y: T.Buffer((T.int64(35),), "int32")):
        for i, j in T.grid(5, 7):
            if i * 7 + j < 33:
                Y[i * 7 + j] = T.Cast("int32", T.Cast("int64", j))
  )");
}

TEST(NarrowIndices, BlocksAndThreads) {
  check_pass("narrow_indices", R"(
    @T.prim_func
    def main(Y: T.Buffer((T.int64(35),), "int32")):
        for bx in T.thread_binding(T.int64(5), thread="blockIdx.x"):
            for tx in T.thread_binding(T.int64(7), thread="threadIdx.x"):
                Y[bx * T.int64(7) + tx] = 1
  )",
             R"(
    @T.prim_func
    def main(Y: T.Buffer((T.int64(35),), "int32")):
        for bx in T.thread_binding(5, thread="blockIdx.x"):
            for tx in T.thread_binding(7, thread="threadIdx.x"):
                Y[bx * 7 + tx] = 1
  )");
}

TEST(NarrowIndices, Vectors) {
  check_pass("narrow_indices", R"(
    @T.prim_func
    def main(Y: T.Buffer((T.int64(20),), "float32")):
        for i in range(T.int64(5)):
            Y[T.Ramp(i * T.int64(4), T.int64(1), 4)] = T.Broadcast(T.float32(1), 4)
  )",
             R"(
    @T.prim_func
    def main(Y: T.Buffer((T.int64(20),), "float32")):
        for i in range(5):
            Y[T.Ramp(i * 4, 1, 4)] = T.Broadcast(T.float32(1), 4)
  )");
}

TEST(NarrowIndices, AnIndexThatMayNotFitStaysWide) {
  check_pass("narrow_indices", R"(
    @T.prim_func
    def main(Y: T.Buffer((8,), "int32")):
        for i in range(T.int64(5)):
            Y[i * T.int64(4294967296) // T.int64(4294967296)] = 1
  )",
             R"(
    @T.prim_func
    def main(Y: T.Buffer((8,), "int32")):
        for i in range(5):
            Y[T.Cast("int64", i) * T.int64(4294967296) // T.int64(4294967296)] = 1
  )");
}

TEST(NarrowIndices, UnknownExtentsStayWide) {
  check_unchanged("narrow_indices", R"(
    @T.prim_func
    def main(Y: T.Buffer((8,), "int32"), n: T.int64):
        for i in range(n):
            if i < T.int64(8):
                Y[i] = 1
  )");
}

}  // namespace
}  // namespace tilewright::lower
