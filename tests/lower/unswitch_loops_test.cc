// What all copies of a body choose alike is chosen before them.
#include "lower_testing.h"

namespace tilewright::lower {
namespace {

TEST(UnswitchLoops, SharedConditionLeavesTheLoopsThatDoNotChangeIt) {
  check_pass(unswitch_loops, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7, 3), "float32"), B: T.Buffer((7, 3), "float32"), y: T.int32):
        for i in T.unroll(7):
            for j in T.vectorized(3):
                B[i, j] = B[i, j] + T.if_then_else(0 < y and i < 6 and y < 5, A[y, i, j], T.float32(0))
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7, 3), "float32"), B: T.Buffer((7, 3), "float32"), y: T.int32):
        if 0 < y and y < 5:
            for i in T.unroll(7):
                if i < 6:
                    for j in T.vectorized(3):
                        B[i, j] = B[i, j] + A[y, i, j]
                else:
                    for j in T.vectorized(3):
                        B[i, j] = B[i, j] + T.float32(0)
        else:
            for i in T.unroll(7):
                for j in T.vectorized(3):
                    B[i, j] = B[i, j] + T.float32(0)
  )");
}

TEST(UnswitchLoops, ChoicesThatShareOnlyAPartInOneLoopWaitForTheNext) {
  // of i alone both know the same, inside of it
  check_pass(unswitch_loops, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7,), "float32"), y: T.int32):
        for i in T.unroll(7):
            B[i] = T.if_then_else(y < 5, A[y, i], T.float32(0)) + T.if_then_else(y < 4, A[y + 1, i], T.float32(0))
        for i in T.vectorized(7):
            B[i] = T.if_then_else(y < 5, A[y, i], T.float32(0)) + T.if_then_else(y < 5, A[0, i], T.float32(1))
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7,), "float32"), y: T.int32):
        for i in T.unroll(7):
            B[i] = T.if_then_else(y < 5, A[y, i], T.float32(0)) + T.if_then_else(y < 4, A[y + 1, i], T.float32(0))
        if y < 5:
            for i in T.vectorized(7):
                B[i] = A[y, i] + A[0, i]
        else:
            for i in T.vectorized(7):
                B[i] = T.float32(0) + T.float32(1)
  )");
}

TEST(UnswitchLoops, LoopsOfTheirOwnTurnsStay) {
  check_unchanged(unswitch_loops, R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7,), "float32"), y: T.int32):
        for i in range(7):
            B[i] = T.if_then_else(y < 5, A[y, i], T.float32(0))
        for i in T.unroll(7):
            B[i] = T.if_then_else(i < 5, A[0, i], T.float32(0))
  )");
}

TEST(UnswitchLoops, ConditionsThatCouldFailOrChangeStay) {
  // y may be outside of N, and n be 0; x is defined inside
  check_unchanged(unswitch_loops, R"(
    @T.prim_func
    def main(A: T.Buffer((7,), "float32"), N: T.Buffer((5,), "int32"), B: T.Buffer((7,), "float32"), y: T.int32, n: T.int32):
        for i in T.unroll(7):
            if y < 5:
                B[i] = T.if_then_else(N[y] < 5, A[i], T.float32(0))
        for i in T.unroll(7):
            if 0 < n:
                B[i] = T.if_then_else(y % n < 5, A[i], T.float32(0))
        for i in T.unroll(7):
            x: T.int32 = i * y
            B[i] = T.if_then_else(x < 5, A[i], T.float32(0))
  )");
}

}  // namespace
}  // namespace tilewright::lower
