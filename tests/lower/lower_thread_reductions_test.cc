// Threads put their parts of a sum together; tests/lower/test_kernels.py runs more of them.
#include "lower_testing.h"
#include "tilewright/ir/walk.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"

namespace tilewright::lower {
namespace {

constexpr std::string_view kRowSum = R"(
    @T.prim_func
    def main(A: T.Buffer((3, 64), "float32"), B: T.Buffer((3,), "float32")):
        for i in T.thread_binding(3, "blockIdx.x"):
            for k0 in range(2):
                for k1 in T.thread_binding(32, "threadIdx.x"):
                    with T.block("B"):
                        vi = T.axis.spatial(3, i)
                        vk = T.axis.reduce(64, k0 * 32 + k1)
                        with T.init():
                            B[vi] = T.float32(0)
                        B[vi] = B[vi] + A[vi, vk]
  )";

std::string text_of(const PrimFunc& func) {
  std::string text;
  ir::walk(func, [&](const CallNode* call) {
    const auto* op = call->op.as<OpNode>();
    if (op) text += op->name + " ";
  });
  return text;
}

// The blocks that write memory other than registers where a condition on `scalar` holds.
std::string results_guarded_by(const PrimFunc& func, std::string_view scalar) {
  std::string found;
  ir::walk(func, [&](const BlockRealizeNode* realize) {
    bool is_guarded = false, writes = false;
    ir::walk(realize->predicate, [&](const VarNode* var) { is_guarded |= var->name_hint == scalar; });
    for (const BufferRegion& region : realize->block->writes) writes |= region->buffer->scope() != "local";
    if (is_guarded && writes) found += realize->block->name_hint + " ";
  });
  return found;
}

TEST(LowerThreadReductions, ByMemoryWhereNoRegistersAreExchanged) {
  const PrimFunc lowered = run_step("lower_thread_reductions", func_of(kRowSum));
  EXPECT_EQ(text_of(lowered), "");
  int64_t num_shared = 0;
  ir::walk(lowered, [&](const BlockNode* block) {
    for (const Buffer& buffer : block->alloc_buffers) num_shared += buffer->scope() == "shared";
  });
  EXPECT_EQ(num_shared, 1);
}

// Only the first thread writes the result; where each keeps it in registers, all take it.
TEST(LowerThreadReductions, ByRegistersOfAWarp) {
  const ir::AttrMap warps{{"warp_size", ir::attr(int64_t{32})}};
  std::string expected;
  for (int step = 0; step < 5; ++step) expected += "tir.tvm_warp_shuffle_down ";
  EXPECT_EQ(text_of(run_step("lower_thread_reductions", func_of(kRowSum), warps)), expected);
  const PrimFunc kept = func_of(R"(
    @T.prim_func
    def main(A: T.Buffer((3, 64), "float32"), B: T.Buffer((3, 32), "float32")):
        for i in T.thread_binding(3, "blockIdx.x"):
            with T.block("row"):
                S = T.alloc_buffer((3,), "float32", scope="local")
                for k0 in range(2):
                    for k1 in T.thread_binding(32, "threadIdx.x"):
                        with T.block("S"):
                            vi = T.axis.spatial(3, i)
                            vk = T.axis.reduce(64, k0 * 32 + k1)
                            with T.init():
                                S[vi] = T.float32(0)
                            S[vi] = S[vi] + A[vi, vk]
                for j in T.thread_binding(32, "threadIdx.x"):
                    with T.block("B"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        B[vi, vj] = S[vi]
  )");
  EXPECT_EQ(text_of(run_step("lower_thread_reductions", kept, warps)), expected + "tir.tvm_warp_shuffle ");
}

// No thread has a term where the open extent is 0, and the result is 0 all the same; tests/lower/test_kernels.py has the
// numbers.
TEST(LowerThreadReductions, AResultOfNoTermsIsWritten) {
  constexpr std::string_view kSums[] = {// threads in the nest, without and with a serial loop
                                        R"(
    @T.prim_func
    def main(n: T.int32, A: T.Buffer((8,), "float32"), B: T.Buffer((1,), "float32")):
        for k in T.thread_binding(8, "threadIdx.x"):
            with T.block("B"):
                T.where(k < n)
                vk = T.axis.reduce(n, k)
                with T.init():
                    B[0] = T.float32(0)
                B[0] = B[0] + A[vk]
  )",
                                        R"(
    @T.prim_func
    def main(n: T.int32, A: T.Buffer((8,), "float32"), B: T.Buffer((1,), "float32")):
        for k0 in range(2):
            for k1 in T.thread_binding(4, "threadIdx.x"):
                with T.block("B"):
                    T.where(k0 * 4 + k1 < n)
                    vk = T.axis.reduce(n, k0 * 4 + k1)
                    with T.init():
                        B[0] = T.float32(0)
                    B[0] = B[0] + A[vk]
  )",
                                        // threads around the nest
                                        R"(
    @T.prim_func
    def main(n: T.int32, A: T.Buffer((8,), "float32"), B: T.Buffer((3,), "float32"), C: T.Buffer((8,), "float32")):
        for k in T.thread_binding(8, "threadIdx.x"):
            for i in range(3):
                with T.block("B"):
                    T.where(k < n)
                    vi = T.axis.spatial(3, i)
                    vk = T.axis.reduce(n, k)
                    with T.init():
                        B[vi] = T.float32(0)
                    B[vi] = B[vi] + A[vk]
            with T.block("C"):
                vk = T.axis.spatial(8, k)
                C[vk] = T.float32(1)
  )"};
  for (std::string_view text : kSums) {
    for (const int64_t warp_size : {0, 32}) {
      const PrimFunc lowered =
          run_step("lower_thread_reductions", func_of(text), {{"warp_size", ir::attr(warp_size)}});
      EXPECT_EQ(results_guarded_by(lowered, "n"), "");
    }
  }
}

void expect_error(std::string_view program, const std::string& text) {
  try {
    run_step("lower_thread_reductions", func_of(program));
    FAIL() << "expected an error";
  } catch (const UserError& error) {
    EXPECT_EQ(error.text().substr(0, text.size()), text);
  }
}

TEST(LowerThreadReductions, WhatThreadsCannotShare) {
  expect_error(R"(
    @T.prim_func
    def main(A: T.Buffer((32,), "float32"), B: T.Buffer((1,), "float32")):
        for k in T.thread_binding(32, "threadIdx.x"):
            with T.block("B"):
                vk = T.axis.reduce(32, k)
                with T.init():
                    B[0] = T.float32(1)
                B[0] = B[0] + A[vk]
  )",
               "threads cannot share block B, which is no reduction that starts at a neutral element");
  expect_error(
      R"(
    @T.prim_func
    def main(n: T.int32, A: T.Buffer((32,), "float32"), B: T.Buffer((1,), "float32")):
        for k in T.thread_binding(n, "threadIdx.x"):
            with T.block("B"):
                vk = T.axis.reduce(32, k)
                with T.init():
                    B[0] = T.float32(0)
                B[0] = B[0] + A[vk]
  )",
      "the threads of loop k cannot share a reduction: their number is known only when the kernel runs");
  expect_error(R"(
    @T.prim_func
    def main(A: T.Buffer((8, 32), "float32"), B: T.Buffer((1,), "float32"), C: T.Buffer((8,), "float32")):
        for k0 in range(8):
            for k1 in T.thread_binding(32, "threadIdx.x"):
                with T.block("B"):
                    v0, v1 = T.axis.remap("RR", [k0, k1])
                    with T.init():
                        B[0] = T.float32(0)
                    B[0] = B[0] + A[v0, v1]
            with T.block("C"):
                v0 = T.axis.spatial(8, k0)
                C[v0] = T.float32(1)
  )",
               "loop k0 adds to the sum of block B, whose terms threads share, and has other blocks inside");
}

TEST(LowerThreadReductions, TermsThatAreChosenByTheirOrder) {
  expect_error(R"(
    @T.prim_func
    def main(A: T.Buffer((32,), "float32"), X: T.Buffer((32,), "float32"), M: T.Buffer((1,), "float32"),
             B: T.Buffer((1,), "float32")):
        for k in T.thread_binding(32, "threadIdx.x"):
            with T.block("B"):
                vk = T.axis.reduce(32, k)
                with T.init():
                    M[0] = T.min_value("float32")
                    B[0] = T.float32(0)
                v_m: T.float32 = T.Select(M[0] >= A[vk], M[0], A[vk])
                v_b: T.float32 = T.Select(M[0] >= A[vk], B[0], X[vk])
                M[0] = v_m
                B[0] = v_b
  )",
               "threads cannot share block B, which takes one of equal terms by their order");
}

}  // namespace
}  // namespace tilewright::lower
