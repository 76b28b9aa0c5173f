// Blocks that a GPU cannot run are refused before anybody tries.
#include "tilewright/analysis/launch_limits.h"

#include "script_testing.h"
#include "tilewright/target/target.h"

namespace tilewright::analysis {
namespace {

std::string verdict(std::string_view program, std::string_view target = "cuda -arch=sm_80") {
  try {
    verify_launch_limits(script::parse_func_unchecked(program),
                         target::gpu_features_of(target::parse_target(target)).features);
    return "fine";
  } catch (const Error& error) {
    return error.render();
  }
}

// A kernel of 8 x 4 x z threads.
std::string threads(int y, int z, std::string_view block = "blockIdx.x", int blocks = 2) {
  return fmt::format(R"(
    @T.prim_func
    def main(A: T.Buffer((2,), "float32")):
        for i in T.thread_binding({3}, thread="{2}"):
            for x in T.thread_binding(32, thread="threadIdx.x"):
                for y in T.thread_binding({0}, thread="threadIdx.y"):
                    for z in T.thread_binding({1}, thread="threadIdx.z"):
                        A[0] = T.float32(0)
  )",
                     y, z, block, blocks);
}
std::string shared(int floats, std::string_view scope) {
  return fmt::format(R"(
    @T.prim_func
    def main(A: T.Buffer((2,), "float32")):
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            S = T.allocate([{0}], "float32", "{1}")
            R = T.allocate([16], "float32", "{1}")
            S[0] = T.float32(0)
            R[0] = T.float32(0)
  )",
                     floats, scope);
}

}  // namespace

TEST(LaunchLimits, WhatFits) {
  EXPECT_EQ(verdict(threads(32, 1)), "fine");
  EXPECT_EQ(verdict(threads(1, 32)), "fine");
  EXPECT_EQ(verdict(threads(8, 1), "opencl"), "fine");
}

TEST(LaunchLimits, TooManyThreads) {
  EXPECT_EQ(
      verdict(threads(8, 5)),
      R"(error: a block has 1280 threads, but the target's max_threads_per_block is 1024: loop x over threadIdx.x has 32, loop y over threadIdx.y has 8, loop z over threadIdx.z has 5
  f.py:4:9
   4 |         for x in T.thread_binding(32, thread="threadIdx.x"):
     |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
help: split the loops so that the product of their extents is at most 1024)");
  EXPECT_EQ(verdict(threads(8, 5), "cuda -arch=sm_80 -max_threads_per_block=2048"), "fine");
}

TEST(LaunchLimits, TooManyThreadsAlongZ) {
  EXPECT_EQ(verdict(threads(1, 128)),
            R"(error: loop z over threadIdx.z has 128 threads, but the target's max_block_z is 64
  f.py:6:17
   6 |                 for z in T.thread_binding(128, thread="threadIdx.z"):
     |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
help: bind the loop to threadIdx.x, or split it)");
}

TEST(LaunchLimits, TooManyBlocks) {
  EXPECT_EQ(verdict(threads(1, 1, "blockIdx.y", 70000)),
            R"(error: loop i over blockIdx.y has 70000 blocks, but the target's max_grid_y is 65535
  f.py:3:5
   3 |     for i in T.thread_binding(70000, thread="blockIdx.y"):
     |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
help: bind the loop to blockIdx.x)");
}

TEST(LaunchLimits, TooMuchSharedMemory) {
  EXPECT_EQ(verdict(shared(12000, "shared")), "fine");
  EXPECT_EQ(
      verdict(shared(16000, "shared")),
      R"(error: a block has 64064 bytes of shared memory, but the target's shared_bytes_per_block is 49152: S has 64000, R has 64
  f.py:3:5
   3 |     for tx in T.thread_binding(32, thread="threadIdx.x"):
     |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
help: make the tiles smaller, or keep them in scope "shared.dyn": up to 166912 bytes)");
  EXPECT_EQ(verdict(shared(16000, "shared.dyn")), "fine");
  EXPECT_EQ(
      verdict(shared(50000, "shared.dyn")),
      R"(error: a block has 200064 bytes of shared memory, but the target's most_shared_bytes_per_block is 166912: S has 200000, R has 64
  f.py:3:5
   3 |     for tx in T.thread_binding(32, thread="threadIdx.x"):
     |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
help: make the tiles that are copied to shared memory smaller)");
}

}  // namespace tilewright::analysis
