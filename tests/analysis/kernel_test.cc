// Kernels of GPUs in the interpreter: threads of a block meet at barriers, and what they may not do is found.
#include "kernel_testing.h"

namespace tilewright::analysis {
namespace {

constexpr std::string_view kReversed = R"(
    @T.prim_func
    def main(A: T.Buffer((16,), "float32")):
        bx = T.launch_thread("blockIdx.x", 2)
        S = T.alloc_buffer((8,), scope="shared")
        tx = T.launch_thread("threadIdx.x", 8)
        S[tx] = A[bx * 8 + tx]
        T.tvm_storage_sync("shared")
        A[bx * 8 + tx] = S[7 - tx]
)";

TEST(Kernel, ThreadsExchangeDataAtABarrier) {
  const Tensor A = floats(counted(16));
  interpret(script::parse_func(kReversed), std::vector<Value>{A});
  EXPECT_EQ(content(A), (std::vector<float>{7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8}));
}

TEST(Kernel, AMissingBarrierIsARace) {
  std::string program(kReversed);
  const std::string barrier = "        T.tvm_storage_sync(\"shared\")\n";
  program.erase(program.find(barrier), barrier.size());
  EXPECT_EQ(fault(program, {floats(counted(16))}),
            "S[7] is read before anything is written to it at bx = 0, tx = 0");
}

TEST(Kernel, AMissingBarrierBetweenIterationsIsARace) {
  EXPECT_EQ(
      fault(R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        S = T.alloc_buffer((4,), scope="shared")
        tx = T.launch_thread("threadIdx.x", 4)
        for k in range(3):
            S[tx] = A[tx]
            T.tvm_storage_sync("shared")
            A[tx] = S[3 - tx]
  )",
            {floats(counted(4))}),
      "two threads touch S[1] with no barrier between: threadIdx.x = 1 writes it, threadIdx.x = 2 reads "
      "it at tx = 2, k = 0");
}

TEST(Kernel, ABarrierThatNotAllThreadsReach) {
  EXPECT_EQ(
      fault(R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        ty = T.launch_thread("threadIdx.y", 2)
        tx = T.launch_thread("threadIdx.x", 2)
        if tx + ty < 2:
            T.tvm_storage_sync("shared")
        A[ty * 2 + tx] = T.float32(0)
  )",
            {floats(counted(4))}),
      "the threads of a block do not all reach this barrier: threadIdx.x = 0, threadIdx.y = 0 waits at it, "
      "threadIdx.x = 1, threadIdx.y = 1 has ended at ty = 0, tx = 0");
}

TEST(Kernel, ThreadsAtDifferentBarriers) {
  EXPECT_EQ(
      fault(R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        tx = T.launch_thread("threadIdx.x", 4)
        if tx < 2:
            T.tvm_storage_sync("shared")
        else:
            T.tvm_storage_sync("shared")
        A[tx] = T.float32(0)
  )",
            {floats(counted(4))}),
      "the threads of a block do not all reach this barrier: threadIdx.x = 0 waits at it, threadIdx.x = 2 "
      "waits at another one at tx = 0");
}

TEST(Kernel, BlocksCannotExchangeData) {
  EXPECT_EQ(fault(R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        bx = T.launch_thread("blockIdx.x", 2)
        tx = T.launch_thread("threadIdx.x", 2)
        T.tvm_storage_sync("shared")
        A[bx + tx] = T.Cast("float32", tx)
  )",
                  {floats(counted(4))}),
            "two blocks touch A[1]: blockIdx.x = 0 writes it, blockIdx.x = 1 writes it at bx = 1, tx = 0");
}

constexpr std::string_view kSameElement = R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        tx = T.launch_thread("threadIdx.x", 4)
        A[0] = VALUE
)";

TEST(Kernel, ThreadsMayWriteTheSameNumber) {
  std::string program(kSameElement);
  program.replace(program.find("VALUE"), 5, "T.float32(7)");
  const Tensor A = floats(counted(4));
  interpret(script::parse_func(program), std::vector<Value>{A});
  EXPECT_EQ(content(A), (std::vector<float>{7, 1, 2, 3}));
  program = kSameElement;
  program.replace(program.find("VALUE"), 5, "A[tx] + T.float32(1)");
  EXPECT_EQ(fault(program, {floats({1, 3, 2, 1})}),
            "two threads touch A[0] with no barrier between: threadIdx.x = 0 writes it, threadIdx.x = 1 "
            "writes it at "
            "tx = 1");
}

TEST(Kernel, MemoryOfAThreadIsItsOwn) {
  const Tensor A = floats(counted(8));
  interpret(script::parse_func(R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32")):
        tx = T.launch_thread("threadIdx.x", 8)
        L = T.alloc_buffer((2,), scope="local")
        L[0] = A[tx]
        L[1] = T.float32(1)
        T.tvm_storage_sync("shared")
        A[tx] = L[0] + L[1]
  )"),
            std::vector<Value>{A});
  EXPECT_EQ(content(A), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
}

// The course's window sum: threads fill shared memory together, in a loop that is bound again.
constexpr std::string_view kWindowSum = R"(
    @T.prim_func
    def main(A: T.Buffer((18,), "float32"), B: T.Buffer((16,), "float32")):
        S = T.alloc_buffer((18,), scope="shared")
        for i0 in T.thread_binding(2, thread="blockIdx.x"):
            for i1 in T.thread_binding(8, thread="threadIdx.x"):
                for a0 in range(2):
                    for a1 in T.thread_binding(8, thread="threadIdx.x"):
                        with T.block("S"):
                            v = T.axis.spatial(18, i0 * 8 + a0 * 8 + a1)
                            T.where(a0 * 8 + a1 < 10)
                            S[v] = A[v]
                with T.block("B"):
                    v = T.axis.spatial(16, i0 * 8 + i1)
                    B[v] = S[v] + S[v + 1] + S[v + 2]
)";

TEST(Kernel, ThreadsFillSharedMemoryTogether) {
  const Tensor A = floats(counted(18)), B = floats(std::vector<float>(16));
  InterpretOptions options;
  options.outputs = {1};
  int64_t steps = 0;
  options.num_steps = &steps;
  interpret(script::parse_func(kWindowSum), std::vector<Value>{A, B}, options);
  std::vector<float> expected;
  for (int n = 0; n < 16; ++n) expected.push_back(static_cast<float>(3 * n + 3));
  EXPECT_EQ(content(B), expected);
  // each thread runs its own iteration of a1 alone: i0, i1, two of a0, and one of a1 in each
  EXPECT_EQ(steps, 2 * 8 * (1 + 1 + 2 + 2));
}

TEST(Kernel, RegistersOfAnEarlierKernel) {
  const Tensor A = floats(counted(4));
  run_kernel(R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        for i in T.thread_binding(4, thread="threadIdx.x"):
            L = T.decl_buffer((1,), scope="local")
            L[0] = A[i]
            A[i] = L[0] * T.float32(2)
        for i in T.thread_binding(2, thread="threadIdx.x"):
            A[i] = A[i] + T.float32(1)
  )",
             {A});
  EXPECT_EQ(content(A), (std::vector<float>{1, 3, 4, 6}));
}

TEST(Kernel, LoopsOfOneAxisHaveOneExtent) {
  std::string program(kWindowSum);
  const std::string inner = "for a1 in T.thread_binding(8";
  program.replace(program.find(inner), inner.size(), "for a1 in T.thread_binding(4");
  EXPECT_EQ(
      fault(program, {floats(counted(18)), floats(counted(16))}),
      "a1 over threadIdx.x has extent 4, but the kernel has 8 of threadIdx.x at i0 = 0, i1 = 0, a0 = 0");
}

TEST(Kernel, TooManyThreads) {
  EXPECT_EQ(fault(R"(
    @T.prim_func
    def main(A: T.Buffer((5000,), "float32")):
        tx = T.launch_thread("threadIdx.x", 5000)
        A[tx] = T.float32(0)
  )",
                  {floats(counted(5000))}),
            "the interpreter runs blocks of up to 4096 threads, found 5000");
}

}  // namespace
}  // namespace tilewright::analysis
