// interleave_virtual_threads: each statement runs for all virtual threads before the next one does.
#include "lower_testing.h"

namespace tilewright::lower {
namespace {

TEST(InterleaveVirtualThreads, EachThreadHasItsOwnCopyOfMemory) {
  check_pass("interleave_virtual_threads", R"(
    @T.prim_func
    def main(X: T.Buffer((2, 7), "float32"), Y: T.Buffer((2, 7), "float32")):
        for v in T.thread_binding(2, thread="vthread.x"):
            A = T.alloc_buffer((7,), "float32")
            for i in range(7):
                A[i] = X[v, i] + T.float32(1)
            for i in range(7):
                Y[v, i] = A[6 - i]
  )",
             R"(
    @T.prim_func
    def main(X: T.Buffer((2, 7), "float32"), Y: T.Buffer((2, 7), "float32")):
        A = T.alloc_buffer((2, 7), "float32")
        for i in range(7):
            for v in T.unroll(2):
                A[v, i] = X[v, i] + T.float32(1)
        for i in range(7):
            for v in T.unroll(2):
                Y[v, i] = A[v, 6 - i]
  )");
}

TEST(InterleaveVirtualThreads, LoopsThatDifferStayWhole) {
  check_pass("interleave_virtual_threads", R"(
    @T.prim_func
    def main(Y: T.Buffer((2, 7), "int32")):
        for v in T.thread_binding(2, thread="vthread"):
            for i in range(v + 5):
                Y[v, i] = i
  )",
             R"(
    @T.prim_func
    def main(Y: T.Buffer((2, 7), "int32")):
        for v in T.unroll(2):
            for i in range(v + 5):
                Y[v, i] = i
  )");
}

TEST(InterleaveVirtualThreads, ThreadsInsideThreadsTakeTurnsToo) {
  check_pass("interleave_virtual_threads", R"(
    @T.prim_func
    def main(Y: T.Buffer((2, 3, 5), "int32")):
        for v in T.thread_binding(2, thread="vthread.y"):
            for w in T.thread_binding(3, thread="vthread.x"):
                for i in range(5):
                    Y[v, w, i] = v * 15 + w * 5 + i
  )",
             R"(
    @T.prim_func
    def main(Y: T.Buffer((2, 3, 5), "int32")):
        for i in range(5):
            for w in T.unroll(3):
                for v in T.unroll(2):
                    Y[v, w, i] = v * 15 + w * 5 + i
  )");
}

TEST(InterleaveVirtualThreads, BranchesThatAreTheSameForAllStayOutside) {
  check_pass("interleave_virtual_threads", R"(
    @T.prim_func
    def main(Y: T.Buffer((2, 7), "int32")):
        for v in T.thread_binding(2, thread="vthread.x"):
            for i in range(7):
                if i < 5:
                    Y[v, i] = i
                else:
                    if v < 1:
                        Y[v, i] = 1
  )",
             R"(
    @T.prim_func
    def main(Y: T.Buffer((2, 7), "int32")):
        for i in range(7):
            if i < 5:
                for v in T.unroll(2):
                    Y[v, i] = i
            else:
                for v in T.unroll(2):
                    if v < 1:
                        Y[v, i] = 1
  )");
}

TEST(InterleaveVirtualThreads, SequencesJoinThoseAround) {
  check_pass("interleave_virtual_threads", R"(
    @T.prim_func
    def main(X: T.Buffer((2,), "int32"), Y: T.Buffer((2,), "int32")):
        for v in T.thread_binding(2, thread="vthread.x"):
            X[v] = v
            Y[v] = v
        for i in range(2):
            X[i] = X[i] + Y[i]
  )",
             R"(
    @T.prim_func
    def main(X: T.Buffer((2,), "int32"), Y: T.Buffer((2,), "int32")):
        for v in T.unroll(2):
            X[v] = v
        for v in T.unroll(2):
            Y[v] = v
        for i in range(2):
            X[i] = X[i] + Y[i]
  )");
}

TEST(InterleaveVirtualThreads, OtherThreadsStay) {
  check_unchanged("interleave_virtual_threads", R"(
    @T.prim_func
    def main(Y: T.Buffer((2, 7), "int32")):
        for b in T.thread_binding(2, thread="blockIdx.x"):
            for t in T.thread_binding(7, thread="threadIdx.x"):
                Y[b, t] = t
  )");
}

}  // namespace
}  // namespace tilewright::lower
