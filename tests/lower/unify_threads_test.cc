// A kernel has one loop for each axis.
#include "lower_testing.h"
#include "tilewright/support/error.h"

namespace tilewright::lower {
namespace {

TEST(UnifyThreads, LoopsSideBySide) {
  check_pass("unify_threads", R"(
    @T.prim_func
    def main(A: T.Buffer((8, 32), "float32"), B: T.Buffer((8, 32), "float32")):
        for i in T.thread_binding(8, "blockIdx.x"):
            for j in T.thread_binding(32, "threadIdx.x"):
                B[i, j] = A[i, j]
            for k in T.thread_binding(32, "threadIdx.x"):
                B[i, k] = B[i, k] + T.float32(1)
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((8, 32), "float32"), B: T.Buffer((8, 32), "float32")):
        for blockIdx_x in T.thread_binding(8, "blockIdx.x"):
            for threadIdx_x in T.thread_binding(32, "threadIdx.x"):
                B[blockIdx_x, threadIdx_x] = A[blockIdx_x, threadIdx_x]
                B[blockIdx_x, threadIdx_x] = B[blockIdx_x, threadIdx_x] + T.float32(1)
  )");
}

TEST(UnifyThreads, LaunchedThreads) {
  check_pass("unify_threads", R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5, 7), "float32")):
        ty = T.launch_thread("threadIdx.y", 5)
        tx = T.launch_thread("threadIdx.x", 7)
        B[ty, tx] = A[ty, tx]
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5, 7), "float32")):
        for threadIdx_y in T.thread_binding(5, "threadIdx.y"):
            for threadIdx_x in T.thread_binding(7, "threadIdx.x"):
                B[threadIdx_y, threadIdx_x] = A[threadIdx_y, threadIdx_x]
  )");
}

TEST(UnifyThreads, MemoryOfOpenSizeOfTheOnlyThreadIsTakenOut) {
  check_pass("unify_threads", R"(
    @T.prim_func
    def main(n: T.int32, A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        for i in T.thread_binding(1, "threadIdx.x"):
            total = T.alloc_buffer((n,))
            for j in range(n):
                total[j] = A[j]
            for j in range(n):
                B[j] = total[n - 1 - j]
  )",
             R"(
    @T.prim_func
    def main(n: T.int32, A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        total = T.alloc_buffer((n,))
        for threadIdx_x in T.thread_binding(1, "threadIdx.x"):
            for j in range(n):
                total[j] = A[j]
            for j in range(n):
                B[j] = total[n - 1 - j]
  )");
}

TEST(UnifyThreads, OpenGrid) {
  check_numbers("unify_threads", R"(
    @T.prim_func
    def main(n: T.int32, A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        for i in T.thread_binding((n * 20 + 31) // 32, "blockIdx.x"):
            for j in T.thread_binding(32, "threadIdx.x"):
                if i * 32 + j < n * 20:
                    B[i * 32 + j] = A[i * 32 + j]
  )");
}

void expect_error(const std::string& program, const std::string& text) {
  try {
    run_step("unify_threads", func_of(program));
    FAIL() << "expected an error";
  } catch (const UserError& error) {
    EXPECT_EQ(error.text().substr(0, text.size()), text);
  }
}

TEST(UnifyThreads, NumberOfThreadsIsKnown) {
  expect_error(R"(
    @T.prim_func
    def main(a: T.handle, n: T.int32):
        A = T.match_buffer(a, (n,), "float32")
        for i in T.thread_binding(n, "threadIdx.x"):
            A[i] = T.float32(0)
  )",
               "i has n iterations of threadIdx.x, a number that is known only when the kernel runs");
}

TEST(UnifyThreads, GridIsKnownBefore) {
  expect_error(
      R"(
    @T.prim_func
    def main(A: T.Buffer((8, 8), "float32")):
        for i in T.thread_binding(8, "blockIdx.y"):
            for j in T.thread_binding(i + 1, "blockIdx.x"):
                A[i, j] = T.float32(0)
  )",
      "the number of iterations of blockIdx.x, i + 1, depends on i, which changes inside of the kernel");
  expect_error(
      R"(
    @T.prim_func
    def main(N: T.Buffer((1,), "int32"), A: T.Buffer((8,), "float32")):
        for i in T.thread_binding(N[0], "blockIdx.x"):
            A[i] = T.float32(0)
  )",
      "the number of iterations of blockIdx.x, N[0], is read from N, which is in the device's memory");
}

TEST(UnifyThreads, MemoryOfOneThreadIsPrivate) {
  check_pass("unify_threads", R"(
    @T.prim_func
    def main(A: T.Buffer((32, 4), "float32"), B: T.Buffer((32,), "float32")):
        for i in T.thread_binding(32, "threadIdx.x"):
            S = T.alloc_buffer((1,), "float32")
            S[0] = T.float32(0)
            for j in range(4):
                S[0] = S[0] + A[i, j]
            B[i] = S[0]
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((32, 4), "float32"), B: T.Buffer((32,), "float32")):
        for threadIdx_x in T.thread_binding(32, "threadIdx.x"):
            S = T.alloc_buffer((1,), "float32", scope="local")
            S[0] = T.float32(0)
            for j in range(4):
                S[0] = S[0] + A[threadIdx_x, j]
            B[threadIdx_x] = S[0]
  )");
  expect_error(R"(
    @T.prim_func
    def main(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        for b in T.thread_binding(1, "blockIdx.x"):
            S = T.alloc_buffer((32,), "float32")
            for i in T.thread_binding(32, "threadIdx.x"):
                S[i] = A[i]
            for i in T.thread_binding(32, "threadIdx.x"):
                B[i] = S[31 - i]
  )",
               "the threads of a block share buffer S, which is in scope global");
}

TEST(UnifyThreads, MemoryThatEndsWithAKernelIsOfOne) {
  for (const std::string scope : {"local", "shared"}) {
    expect_error(
        fmt::format(R"(
    @T.prim_func
    def main(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32"), C: T.Buffer((32,), "float32")):
        for h in T.thread_binding(32, "threadIdx.x"):
            C[h] = A[h]
        S = T.alloc_buffer((32,), "float32", scope="{}")
        for i in T.thread_binding(32, "threadIdx.x"):
            S[i] = A[i]
        for j in T.thread_binding(32, "threadIdx.x"):
            B[j] = S[j]
  )",
                    scope),
        fmt::format("kernels 1 of loop i and 2 of loop j use buffer S, which is in scope {} and ends "
                    "with a kernel",
                    scope));
  }
}

}  // namespace
}  // namespace tilewright::lower
