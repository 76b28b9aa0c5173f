// double_buffer: loops that fill and use memory are pipelines, where asked for.
#include "lower_testing.h"

namespace tilewright::lower {
namespace {

// A wish is made in a block; blocks become loops on the way.
PrimFunc doubled(const PrimFunc& func) {
  return run_step("double_buffer", run_step("lower_blocks", run_step("place_allocations", func)));
}

TEST(DoubleBuffer, TheLoopThatFillsAndUsesBecomesAPipeline) {
  check_pass(doubled, R"(
    @T.prim_func
    def main(X: T.Buffer((8, 5), "float32"), Y: T.Buffer((8, 5), "float32")):
        A = T.alloc_buffer((5,), "float32")
        for i in range(8):
            for j in range(5):
                with T.block("fill"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    T.block_attr({"double_buffer_scope": 0})
                    A[vj] = X[vi, vj] + T.float32(1)
            for j in range(5):
                with T.block("use"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    Y[vi, vj] = A[vj] * T.float32(2)
  )",
             R"(
    @T.prim_func
    def main(X: T.Buffer((8, 5), "float32"), Y: T.Buffer((8, 5), "float32")):
        for i in T.serial(8, annotations={"software_pipeline_stage": [0, 1]}):
            A = T.alloc_buffer((5,), "float32")
            for j in range(5):
                A[j] = X[i, j] + T.float32(1)
            for j in range(5):
                Y[i, j] = A[j] * T.float32(2)
  )");
}

TEST(DoubleBuffer, WhatIsReadMayNotBeWrittenByTheUse) {
  check_pass(doubled, R"(
    @T.prim_func
    def main(X: T.Buffer((8, 5), "float32")):
        A = T.alloc_buffer((5,), "float32")
        for i in range(7):
            for j in range(5):
                with T.block("fill"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    T.block_attr({"double_buffer_scope": 0})
                    A[vj] = X[vi, vj] + T.float32(1)
            for j in range(5):
                with T.block("use"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    X[vi + 1, vj] = A[vj] * T.float32(2)
  )",
             R"(
    @T.prim_func
    def main(X: T.Buffer((8, 5), "float32")):
        for i in range(7):
            A = T.alloc_buffer((5,), "float32")
            for j in range(5):
                A[j] = X[i, j] + T.float32(1)
            for j in range(5):
                X[i + 1, j] = A[j] * T.float32(2)
  )");
}

TEST(DoubleBuffer, NothingIsDoneUnlessAsked) {
  check_unchanged("double_buffer", R"(
    @T.prim_func
    def main(X: T.Buffer((8, 5), "float32"), Y: T.Buffer((8, 5), "float32")):
        for i in range(8):
            A = T.alloc_buffer((5,), "float32")
            for j in range(5):
                A[j] = X[i, j] + T.float32(1)
            for j in range(5):
                Y[i, j] = A[j] * T.float32(2)
  )");
}

}  // namespace
}  // namespace tilewright::lower
