// Sums to which threads of a block add together, in the interpreter.
#include "kernel_testing.h"

namespace tilewright::analysis {

TEST(ThreadSums, ThreadsAddTheirTerms) {
  const Tensor A = floats(counted(12)), B = floats(std::vector<float>(2));
  run_kernel(R"(
    @T.prim_func
    def main(A: T.Buffer((2, 6), "float32"), B: T.Buffer((2,), "float32")):
        for i in T.thread_binding(2, thread="threadIdx.y"):
            for k0 in range(2):
                for k1 in T.thread_binding(3, thread="threadIdx.x"):
                    with T.block("B"):
                        vi = T.axis.spatial(2, i)
                        vk = T.axis.reduce(6, k0 * 3 + k1)
                        with T.init():
                            B[vi] = T.float32(100)
                        B[vi] = B[vi] + A[vi, vk]
  )",
             {reshaped(A, {2, 6}), B});
  EXPECT_EQ(content(B), (std::vector<float>{115, 151}));
}

// what each thread has of S in registers is the whole sum afterwards
constexpr std::string_view kCentred = R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        S = T.alloc_buffer((1,), scope="SCOPE")
        for b in T.thread_binding(1, thread="blockIdx.x"):
            for k in T.thread_binding(4, thread="threadIdx.x"):
                with T.block("S"):
                    vk = T.axis.reduce(4, k)
                    with T.init():
                        S[0] = T.float32(0)
                    S[0] = S[0] + A[vk]
            for i in T.thread_binding(4, thread="threadIdx.x"):
                with T.block("B"):
                    vi = T.axis.spatial(4, i)
                    B[vi] = A[vi] - S[0]
)";

TEST(ThreadSums, EachThreadHasTheSumInItsRegisters) {
  for (const std::string_view scope : {"local", "shared", "global"}) {
    std::string program(kCentred);
    program.replace(program.find("SCOPE"), 5, scope);
    const Tensor A = floats(counted(4)), B = floats(std::vector<float>(4));
    run_kernel(program, {A, B});
    EXPECT_EQ(content(B), (std::vector<float>{-6, -5, -4, -3})) << scope;
  }
}

TEST(ThreadSums, ATupleIsOneTerm) {
  const Tensor A = floats({3, 1, 9, 4, 9, 2, 0, 5}), V = floats({0}), I = floats({0});
  run_kernel(R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), V: T.Buffer((1,), "float32"), I: T.Buffer((1,), "float32")):
        for k0 in T.thread_binding(4, thread="threadIdx.x"):
            for k1 in range(2):
                with T.block("argmax"):
                    vk = T.axis.reduce(8, k0 * 2 + k1)
                    with T.init():
                        I[0] = T.float32(-1)
                        V[0] = T.float32(-1)
                    v_i: T.float32 = T.Select(V[0] >= A[vk], I[0], T.Cast("float32", vk))
                    v_v: T.float32 = T.Select(V[0] >= A[vk], V[0], A[vk])
                    I[0] = v_i
                    V[0] = v_v
  )",
             {A, V, I});
  EXPECT_EQ(content(V), (std::vector<float>{9}));
  EXPECT_EQ(content(I), (std::vector<float>{2}));
}

TEST(ThreadSums, WhatOtherThreadsReadMayNotBeAPart) {
  EXPECT_EQ(
      fault(R"(
    @T.prim_func
    def main(A: T.Buffer((3, 4), "float32"), B: T.Buffer((4,), "float32")):
        for b in T.thread_binding(1, thread="blockIdx.x"):
            for i in range(3):
                for k in T.thread_binding(4, thread="threadIdx.x"):
                    with T.block("B"):
                        vi = T.axis.spatial(3, i)
                        vk = T.axis.reduce(4, k)
                        T.reads(A[vi, vk], B[vi:vi + 2])
                        T.writes(B[vi + 1])
                        with T.init():
                            B[vi + 1] = T.float32(0)
                        B[vi + 1] = B[vi + 1] + A[vi, vk] * B[vi]
  )",
            {reshaped(floats(counted(12)), {3, 4}), floats({1, 0, 0, 0})}),
      "two threads touch B[1] with no barrier between: the sum over threadIdx.x writes it, threadIdx.x = 0 "
      "reads it at b = 0, i = 1, k = 0, vi = 1, vk = 0");
}

TEST(ThreadSums, ThreadsThatAddNothingAreNamedApart) {
  EXPECT_EQ(
      fault(R"(
    @T.prim_func
    def main(A: T.Buffer((2, 2), "float32"), B: T.Buffer((1,), "float32")):
        for i in T.thread_binding(2, thread="threadIdx.y"):
            for k in T.thread_binding(2, thread="threadIdx.x"):
                with T.block("B"):
                    vi = T.axis.spatial(2, i)
                    vk = T.axis.reduce(2, k)
                    with T.init():
                        B[0] = T.float32(0)
                    B[0] = B[0] + A[vi, vk]
  )",
            {reshaped(floats(counted(4)), {2, 2}), floats({0})}),
      "two threads touch element 0 of B with no barrier between: the sum over threadIdx.x at threadIdx.y = 0 "
      "writes it, the "
      "sum over threadIdx.x at threadIdx.y = 1 writes it at i = 1, k = 0, vi = 1, vk = 0");
}

TEST(ThreadSums, ThreadsMayMakeTheSameSum) {
  // each threadIdx.y adds the same terms: all write the same number
  const Tensor A = floats(counted(4)), B = floats({0});
  run_kernel(R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32"), B: T.Buffer((1,), "float32")):
        for i in T.thread_binding(3, thread="threadIdx.y"):
            for k in T.thread_binding(4, thread="threadIdx.x"):
                with T.block("B"):
                    vk = T.axis.reduce(4, k)
                    with T.init():
                        B[0] = T.float32(0)
                    B[0] = B[0] + A[vk]
  )",
             {A, B});
  EXPECT_EQ(content(B), (std::vector<float>{6}));
}

}  // namespace tilewright::analysis
