// Shared memory stands at the top of its kernel.
#include "lower_testing.h"
#include "tilewright/support/error.h"

namespace tilewright::lower {
namespace {

TEST(LiftSharedMemory, OutOfLoops) {
  check_pass("lift_shared_memory", R"(
    @T.prim_func
    def main(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        for tx in T.thread_binding(8, "threadIdx.x"):
            for k in range(4):
                S = T.alloc_buffer((8,), "float32", scope="shared")
                P = T.alloc_buffer((1,), "float32", scope="local")
                S[tx] = A[k * 8 + tx]
                P[0] = S[tx]
                B[k * 8 + tx] = P[0]
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        for tx in T.thread_binding(8, "threadIdx.x"):
            S = T.alloc_buffer((8,), "float32", scope="shared")
            for k in range(4):
                P = T.alloc_buffer((1,), "float32", scope="local")
                S[tx] = A[k * 8 + tx]
                P[0] = S[tx]
                B[k * 8 + tx] = P[0]
  )");
}

TEST(LiftSharedMemory, StaysAtTheTop) {
  check_unchanged("lift_shared_memory", R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32")):
        for tx in T.thread_binding(8, "threadIdx.x"):
            S = T.alloc_buffer((8,), "float32", scope="shared")
            S[tx] = T.float32(1)
            A[tx] = S[tx]
  )");
}

TEST(LiftSharedMemory, SizeIsKnown) {
  const PrimFunc func = func_of(R"(
    @T.prim_func
    def main(n: T.int32, A: T.Buffer((8,), "float32")):
        for tx in T.thread_binding(8, "threadIdx.x"):
            S = T.alloc_buffer((n,), "float32", scope="shared")
            S[tx] = T.float32(1)
            A[tx] = S[tx]
  )");
  try {
    run_step("lift_shared_memory", func);
    FAIL() << "expected an error";
  } catch (const UserError& error) {
    const std::string text =
        "shared buffer S has n elements, a number that is known only when the kernel runs";
    EXPECT_EQ(error.text().substr(0, text.size()), text);
  }
}

}  // namespace
}  // namespace tilewright::lower
