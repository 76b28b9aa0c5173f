// Barriers stand where threads exchange numbers, and nowhere else.
#include <gmock/gmock.h>

#include "lower_testing.h"
#include "tilewright/ir/services.h"
#include "tilewright/support/error.h"

namespace tilewright::lower {
namespace {

// The program after the step, which the interpreter then runs without a race.
void check_barriers(std::string_view before, std::string_view after) {
  const PrimFunc found = run_step("insert_barriers", func_of(before)), expected = func_of(after);
  const auto difference = first_mismatch(found, expected);
  EXPECT_FALSE(difference) << difference->path << ": " << difference->reason;
  expect_same_numbers(expected, found);
}

constexpr std::string_view kReversed = R"(
    @T.prim_func
    def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        for bx in T.thread_binding(2, "blockIdx.x"):
            for tx in T.thread_binding(32, "threadIdx.x"):
                S = T.alloc_buffer((32,), "float32", scope="shared")
                S[tx] = A[bx * 32 + tx]
                B[bx * 32 + tx] = S[31 - tx]
  )";

TEST(InsertBarriers, BetweenAWriteAndReadsOfOtherThreads) {
  check_barriers(kReversed, R"(
    @T.prim_func
    def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        for bx in T.thread_binding(2, "blockIdx.x"):
            for tx in T.thread_binding(32, "threadIdx.x"):
                S = T.alloc_buffer((32,), "float32", scope="shared")
                S[tx] = A[bx * 32 + tx]
                T.tvm_storage_sync("shared")
                B[bx * 32 + tx] = S[31 - tx]
  )");
}

TEST(InsertBarriers, NoneForNumbersOfOneThread) {
  check_unchanged("insert_barriers", R"(
    @T.prim_func
    def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        for bx in T.thread_binding(2, "blockIdx.x"):
            for tx in T.thread_binding(8, "threadIdx.x"):
                S = T.alloc_buffer((32,), "float32", scope="shared")
                for i in range(4):
                    S[tx * 4 + i] = A[bx * 32 + tx * 4 + i]
                for i in range(4):
                    B[bx * 32 + tx * 4 + i] = S[tx * 4 + i] * T.float32(2)
  )");
}

TEST(InsertBarriers, NoneForPartsThatDoNotMeet) {
  check_unchanged("insert_barriers", R"(
    @T.prim_func
    def main(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        for tx in T.thread_binding(32, "threadIdx.x"):
            S = T.alloc_buffer((32,), "float32", scope="shared")
            if tx < 16:
                S[tx] = A[tx]
            if tx < 16:
                S[tx] = S[tx] + T.float32(1)
            if tx < 16:
                B[tx] = S[tx]
  )");
}

// A step of a sum over tiles: the copy waits for the last step's reads, the reads for the copy.
TEST(InsertBarriers, TwoInALoopThatUsesATileAgain) {
  check_barriers(R"(
    @T.prim_func
    def main(A: T.Buffer((256,), "float32"), B: T.Buffer((32,), "float32")):
        for tx in T.thread_binding(32, "threadIdx.x"):
            S = T.alloc_buffer((32,), "float32", scope="shared")
            P = T.alloc_buffer((1,), "float32", scope="local")
            P[0] = T.float32(0)
            for k in range(8):
                S[tx] = A[k * 32 + tx]
                for i in range(32):
                    P[0] = P[0] + S[i]
            B[tx] = P[0]
  )",
                 R"(
    @T.prim_func
    def main(A: T.Buffer((256,), "float32"), B: T.Buffer((32,), "float32")):
        for tx in T.thread_binding(32, "threadIdx.x"):
            S = T.alloc_buffer((32,), "float32", scope="shared")
            P = T.alloc_buffer((1,), "float32", scope="local")
            P[0] = T.float32(0)
            for k in range(8):
                T.tvm_storage_sync("shared")
                S[tx] = A[k * 32 + tx]
                T.tvm_storage_sync("shared")
                for i in range(32):
                    P[0] = P[0] + S[i]
            B[tx] = P[0]
  )");
}

TEST(InsertBarriers, BeforeALoopThatOnlyReads) {
  check_barriers(R"(
    @T.prim_func
    def main(A: T.Buffer((32,), "float32"), B: T.Buffer((256,), "float32")):
        for tx in T.thread_binding(32, "threadIdx.x"):
            S = T.alloc_buffer((32,), "float32", scope="shared")
            S[tx] = A[tx]
            for k in range(8):
                B[k * 32 + tx] = S[31 - tx]
  )",
                 R"(
    @T.prim_func
    def main(A: T.Buffer((32,), "float32"), B: T.Buffer((256,), "float32")):
        for tx in T.thread_binding(32, "threadIdx.x"):
            S = T.alloc_buffer((32,), "float32", scope="shared")
            S[tx] = A[tx]
            T.tvm_storage_sync("shared")
            for k in range(8):
                B[k * 32 + tx] = S[31 - tx]
  )");
}

TEST(InsertBarriers, InABranchThatAllThreadsTake) {
  check_barriers(R"(
    @T.prim_func
    def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        for bx in T.thread_binding(2, "blockIdx.x"):
            for tx in T.thread_binding(32, "threadIdx.x"):
                S = T.alloc_buffer((32,), "float32", scope="shared")
                if bx < 1:
                    S[tx] = A[bx * 32 + tx]
                    B[bx * 32 + tx] = S[31 - tx]
  )",
                 R"(
    @T.prim_func
    def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        for bx in T.thread_binding(2, "blockIdx.x"):
            for tx in T.thread_binding(32, "threadIdx.x"):
                S = T.alloc_buffer((32,), "float32", scope="shared")
                if bx < 1:
                    S[tx] = A[bx * 32 + tx]
                    T.tvm_storage_sync("shared")
                    B[bx * 32 + tx] = S[31 - tx]
  )");
}

TEST(InsertBarriers, NotInABranchOfSomeThreads) {
  const PrimFunc func = func_of(R"(
    @T.prim_func
    def main(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        for tx in T.thread_binding(32, "threadIdx.x"):
            S = T.alloc_buffer((32,), "float32", scope="shared")
            if tx < 16:
                S[tx] = A[tx]
                B[tx] = S[15 - tx]
  )");
  try {
    run_step("insert_barriers", func);
    FAIL() << "expected an error";
  } catch (const UserError& error) {
    EXPECT_THAT(error.text(),
                testing::HasSubstr(
                    "threads would have to wait for each other in a statement that not all of them execute"));
  }
}

// x + tx is 0 in all threads: a variable is what it is defined as, also where its definition is around a statement.
TEST(InsertBarriers, ForVariablesThatDifferBetweenThreads) {
  check_barriers(R"(
    @T.prim_func
    def main(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        for tx in T.thread_binding(32, "threadIdx.x"):
            S = T.alloc_buffer((32,), "float32", scope="shared")
            x: T.int32 = 0 - tx
            if tx < 1:
                S[tx + x] = A[tx]
            B[tx] = S[tx + x]
  )",
                 R"(
    @T.prim_func
    def main(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        for tx in T.thread_binding(32, "threadIdx.x"):
            S = T.alloc_buffer((32,), "float32", scope="shared")
            x: T.int32 = 0 - tx
            if tx < 1:
                S[tx + x] = A[tx]
            T.tvm_storage_sync("shared")
            B[tx] = S[tx + x]
  )");
}

// The numbers of a block in the output, read by other threads of it.
TEST(InsertBarriers, ForMemoryOutsideOfTheKernelToo) {
  check_barriers(R"(
    @T.prim_func
    def main(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32"), C: T.Buffer((32,), "float32")):
        for tx in T.thread_binding(32, "threadIdx.x"):
            B[tx] = A[tx]
            C[tx] = B[31 - tx]
  )",
                 R"(
    @T.prim_func
    def main(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32"), C: T.Buffer((32,), "float32")):
        for tx in T.thread_binding(32, "threadIdx.x"):
            B[tx] = A[tx]
            T.tvm_storage_sync("shared")
            C[tx] = B[31 - tx]
  )");
}

}  // namespace
}  // namespace tilewright::lower
