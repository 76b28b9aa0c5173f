// Memory of a warp: registers of its lanes, and shuffles where one reads what another has.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "lower_testing.h"
#include "tilewright/support/error.h"

namespace tilewright::lower {
namespace {

PrimFunc lower_warps(const PrimFunc& func) {
  return run_step("lower_warp_memory", func, {{"warp_size", ir::attr(int64_t{32})}});
}

TEST(LowerWarpMemory, EachLaneKeepsItsPart) {
  check_pass(lower_warps, R"(
    @T.prim_func
    def main(A: T.Buffer((2, 32, 3), "float32"), B: T.Buffer((2, 32, 3), "float32")):
        for tx in T.thread_binding(32, "threadIdx.x"):
            W = T.alloc_buffer((2, 32, 3), "float32", scope="warp")
            for k, n in T.grid(2, 3):
                W[k, tx, n] = A[k, tx, n]
            for k, n in T.grid(2, 3):
                B[k, tx // 4 * 4 + tx % 4, n] = W[k, tx // 4 * 4 + tx % 4, 2 - n]
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((2, 32, 3), "float32"), B: T.Buffer((2, 32, 3), "float32")):
        for tx in T.thread_binding(32, "threadIdx.x"):
            W = T.alloc_buffer((2, 3), "float32", scope="local")
            for k, n in T.grid(2, 3):
                W[k, n] = A[k, tx, n]
            for k, n in T.grid(2, 3):
                B[k, tx // 4 * 4 + tx % 4, n] = W[k, 2 - n]
  )");
}

TEST(LowerWarpMemory, WhatAnotherLaneHasIsShuffled) {
  check_pass(lower_warps, R"(
    @T.prim_func
    def main(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        for tx in T.thread_binding(32, "threadIdx.x"):
            W = T.alloc_buffer((32,), "float32", scope="warp")
            W[tx] = A[tx]
            T.tvm_storage_sync("warp")
            B[tx] = W[31 - tx]
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        for tx in T.thread_binding(32, "threadIdx.x"):
            W = T.alloc_buffer((), "float32", scope="local")
            W[()] = A[tx]
            T.tvm_storage_sync("warp")
            B[tx] = T.tvm_warp_shuffle(T.uint32(4294967295), W[()], 31 - tx, 32, 32)
  )");
}

TEST(LowerWarpMemory, InstructionsGetTheAddressOfRegisters) {
  check_pass(lower_warps, R"(
    @T.prim_func
    def main(A: T.Buffer((32, 4), "float32")):
        for tx in T.thread_binding(32, "threadIdx.x"):
            W = T.alloc_buffer((32, 4), "float32", scope="warp")
            T.evaluate(T.mma_fill("float32", 4, T.address_of(W[tx, 0:4]), 0))
            for n in range(4):
                A[tx, n] = W[tx, n]
  )",
             R"(
    @T.prim_func
    def main(A: T.Buffer((32, 4), "float32")):
        for tx in T.thread_binding(32, "threadIdx.x"):
            W = T.alloc_buffer((4,), "float32", scope="local")
            T.evaluate(T.mma_fill("float32", 4, T.address_of(W[0:4]), 0))
            for n in range(4):
                A[tx, n] = W[n]
  )");
}

TEST(LowerWarpMemory, OthersStay) {
  check_unchanged(lower_warps, R"(
    @T.prim_func
    def main(A: T.Buffer((32,), "float32")):
        for tx in T.thread_binding(32, "threadIdx.x"):
            W = T.alloc_buffer((1,), "float32", scope="local")
            W[0] = A[tx]
            A[tx] = W[0]
  )");
}

std::string refusal(const Pass& pass, std::string_view program) {
  try {
    pass.run(func_of(program));
  } catch (const Error& error) {
    return error.render();
  }
  return "nothing was refused";
}

constexpr std::string_view kProgram = R"(
    @T.prim_func
    def main(A: T.Buffer((32,), "float32")):
        for tx in T.thread_binding({0}, "threadIdx.x"):
            W = T.alloc_buffer(({1},), "float32", scope="warp")
            W[{2}] = A[tx]
            A[tx] = {3}
  )";

std::string program(std::string_view threads, std::string_view size, std::string_view place,
                    std::string_view value) {
  return fmt::format(fmt::runtime(kProgram), threads, size, place, value);
}

TEST(LowerWarpMemory, Refusals) {
  using ::testing::AllOf, ::testing::HasSubstr;
  EXPECT_THAT(
      refusal("lower_warp_memory", program("32", "32", "tx", "W[tx]")),
      AllOf(HasSubstr("unsupported: buffer W is in scope warp, and threads of this target have no warps\n"),
            HasSubstr("help: keep it in scope local or shared")));
  EXPECT_THAT(
      refusal(lower_warps, program("16", "32", "tx", "W[tx]")),
      AllOf(
          HasSubstr("error: buffer W is in scope warp, but its kernel has no 32 threads along threadIdx.x\n"),
          HasSubstr(
              "help: bind a loop of 32 iterations to threadIdx.x, and the warps of a block to threadIdx.y")));
  EXPECT_THAT(
      refusal(lower_warps, program("32", "33", "tx", "W[tx]")),
      AllOf(HasSubstr("error: buffer W is in scope warp, but no dimension of [33] is that of its 32 lanes\n"),
            HasSubstr("help: give it one of 32 elements, in which each thread writes at threadIdx.x")));
  EXPECT_THAT(
      refusal(lower_warps, program("32", "32", "31 - tx", "W[tx]")),
      AllOf(HasSubstr("error: buffer W is in scope warp, and a thread touches the part of lane 31 - tx, "
                      "not its own\n"),
            HasSubstr("help: bind a loop of 32 iterations to threadIdx.x and let it be the lane")));
  EXPECT_THAT(refusal(lower_warps, program("32", "32", "tx", "T.call_extern(\"float32\", \"f\", W.data)")),
              AllOf(HasSubstr("unsupported: buffer W is in scope warp, and its pointer is passed on\n"),
                    HasSubstr("help: pass T.address_of(...) of the elements of a lane, W[..., tx, 0:n]")));
}

}  // namespace
}  // namespace tilewright::lower
