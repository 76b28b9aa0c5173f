// software_pipeline: statements of a loop overlap; memory that each iteration has for itself gets versions.
#include <gmock/gmock.h>

#include "lower_testing.h"
#include "tilewright/support/error.h"

namespace tilewright::lower {
namespace {

PrimFunc asynchronous(const PrimFunc& func) {
  return run_step("software_pipeline", func, {{"async_copies", ir::attr(true)}});
}

TEST(SoftwarePipeline, CopiesOneIterationAhead) {
  check_pass("software_pipeline", R"(
    @T.prim_func
    def main(X: T.Buffer((40,), "float32"), Y: T.Buffer((40,), "float32")):
        for i in T.serial(8, annotations={"software_pipeline_stage": [0, 1]}):
            A = T.alloc_buffer((5,), "float32")
            for j in range(5):
                A[j] = X[i * 5 + j]
            for j in range(5):
                Y[i * 5 + j] = A[j] * T.float32(2)
  )",
             R"(
    @T.prim_func
    def main(X: T.Buffer((40,), "float32"), Y: T.Buffer((40,), "float32")):
        A = T.alloc_buffer((16,), "float32")
        for j in range(5):
            A[j] = X[j]
        for i in range(7):
            for j in range(5):
                A[(i + 1) % 2 * 8 + j] = X[i * 5 + j + 5]
            for j in range(5):
                Y[i * 5 + j] = A[i % 2 * 8 + j] * T.float32(2)
        for j in range(5):
            Y[j + 35] = A[j + 8] * T.float32(2)
  )");
}

// The use comes first, so that the copy may take its place.
TEST(SoftwarePipeline, OneVersionIsEnoughWhereTheUseRunsFirst) {
  check_pass("software_pipeline", R"(
    @T.prim_func
    def main(X: T.Buffer((40,), "float32"), Y: T.Buffer((40,), "float32")):
        for i in T.serial(8, annotations={"software_pipeline_stage": [0, 1], "software_pipeline_order": [1, 0]}):
            A = T.alloc_buffer((5,), "float32")
            for j in range(5):
                A[j] = X[i * 5 + j]
            for j in range(5):
                Y[i * 5 + j] = A[j] * T.float32(2)
  )",
             R"(
    @T.prim_func
    def main(X: T.Buffer((40,), "float32"), Y: T.Buffer((40,), "float32")):
        A = T.alloc_buffer((5,), "float32")
        for j in range(5):
            A[j] = X[j]
        for i in range(7):
            for j in range(5):
                Y[i * 5 + j] = A[j] * T.float32(2)
            for j in range(5):
                A[j] = X[i * 5 + j + 5]
        for j in range(5):
            Y[j + 35] = A[j] * T.float32(2)
  )");
}

TEST(SoftwarePipeline, FewerIterationsThanStages) {
  for (const char* extent : {"1", "2", "3"}) {
    check_numbers("software_pipeline", fmt::format(R"(
    @T.prim_func
    def main(X: T.Buffer((40,), "float32"), Y: T.Buffer((40,), "float32")):
        for i in T.serial({}, annotations={{"software_pipeline_stage": [0, 1, 3]}}):
            A = T.alloc_buffer((5,), "float32")
            B = T.alloc_buffer((5,), "float32")
            for j in range(5):
                A[j] = X[i * 5 + j]
            for j in range(5):
                B[j] = A[4 - j]
            for j in range(5):
                Y[i * 5 + j] = B[j] * A[j]
  )",
                                                   extent));
  }
}

// The inner loop is three statements of the outer one: its beginning, the loop and its end.
TEST(SoftwarePipeline, APipelineInAnother) {
  check_numbers("software_pipeline", R"(
    @T.prim_func
    def main(X: T.Buffer((64,), "float32"), Y: T.Buffer((64,), "float32")):
        for i in T.serial(8, annotations={"software_pipeline_stage": [0, 0, 1, 1], "software_pipeline_order": [0, 3, 1, 2]}):
            A = T.alloc_buffer((8,), "float32")
            for j in range(8):
                A[j] = X[i * 8 + j]
            with T.attr(0, "software_pipeline_statement", 0):
                for k in T.serial(4, annotations={"software_pipeline_stage": [0, 1]}):
                    R = T.alloc_buffer((2,), "float32", scope="local")
                    for j in range(2):
                        R[j] = A[7 - k * 2 - j]
                    for j in range(2):
                        Y[i * 8 + k * 2 + j] = R[j] * T.float32(3)
  )");
}

TEST(SoftwarePipeline, NothingIsDoneUnlessAsked) {
  check_unchanged("software_pipeline", R"(
    @T.prim_func
    def main(X: T.Buffer((40,), "float32"), Y: T.Buffer((40,), "float32")):
        for i in range(8):
            A = T.alloc_buffer((5,), "float32")
            for j in range(5):
                A[j] = X[i * 5 + j]
            for j in range(5):
                Y[i * 5 + j] = A[j] * T.float32(2)
  )");
}

// A vector of 16 bytes is one copy; what is no copy stays what it is.
TEST(SoftwarePipeline, CopiesToSharedMemoryAreAsynchronous) {
  check_pass(asynchronous, R"(
    @T.prim_func
    def main(X: T.Buffer((1024,), "float32"), Y: T.Buffer((1024,), "float32")):
        for tx in T.thread_binding(32, "threadIdx.x"):
            for i in T.serial(8, annotations={"software_pipeline_stage": [0, 1], "software_pipeline_async_stages": [0]}):
                S = T.alloc_buffer((128,), "float32", scope="shared")
                for j in T.vectorized(4):
                    S[tx * 4 + j] = X[i * 128 + tx * 4 + j]
                for j in range(4):
                    Y[i * 128 + tx * 4 + j] = S[tx * 4 + j]
  )",
             R"(
    @T.prim_func
    def main(X: T.Buffer((1024,), "float32"), Y: T.Buffer((1024,), "float32")):
        for tx in T.thread_binding(32, "threadIdx.x"):
            S = T.alloc_buffer((256,), "float32", scope="shared")
            T.ptx_cp_async("float32", T.address_of(S[tx * 4:tx * 4 + 4]), 0, T.address_of(X[tx * 4:tx * 4 + 4]), 0, 16)
            T.ptx_commit_group()
            for i in range(7):
                T.ptx_wait_group(0)
                T.ptx_cp_async("float32", T.address_of(S[(i + 1) % 2 * 128 + tx * 4:(i + 1) % 2 * 128 + tx * 4 + 4]), 0, T.address_of(X[i * 128 + tx * 4 + 128:i * 128 + tx * 4 + 132]), 0, 16)
                T.ptx_commit_group()
                for j in range(4):
                    Y[i * 128 + tx * 4 + j] = S[i % 2 * 128 + tx * 4 + j]
            T.ptx_wait_group(0)
            for j in range(4):
                Y[tx * 4 + j + 896] = S[tx * 4 + j + 128]
  )");
}

TEST(SoftwarePipeline, IterationsMustFollowEachOther) {
  const PrimFunc func = func_of(R"(
    @T.prim_func
    def main(Y: T.Buffer((8,), "float32")):
        for i in T.parallel(8, annotations={"software_pipeline_stage": [0]}):
            Y[i] = T.float32(1)
  )");
  try {
    run_step("software_pipeline", func);
    FAIL() << "expected an error";
  } catch (const UserError& error) {
    EXPECT_EQ(error.text(),
              "software_pipeline_stage: the iterations of loop i do not run one after the other");
  }
}

TEST(SoftwarePipeline, AllIterationsNeedAsMuchMemory) {
  const PrimFunc func = func_of(R"(
    @T.prim_func
    def main(Y: T.Buffer((8,), "float32")):
        for i in T.serial(8, annotations={"software_pipeline_stage": [0, 1]}):
            A = T.alloc_buffer((i + 1,), "float32")
            A[i] = T.float32(1)
            Y[i] = A[i]
  )");
  try {
    run_step("software_pipeline", func);
    FAIL() << "expected an error";
  } catch (const UserError& error) {
    EXPECT_EQ(error.text(), "loop i cannot be pipelined: buffer A has another size in each iteration");
  }
}

}  // namespace
}  // namespace tilewright::lower
