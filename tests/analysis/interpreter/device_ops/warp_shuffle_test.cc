// Shuffles: lanes of a warp read values of one another.
#include "kernel_testing.h"

namespace tilewright::analysis {
namespace {

// A kernel of `threads` threads with `statement` for each, which has its number tx, A[tx] and B[tx].
std::string kernel(std::string_view statement, int threads = 32) {
  return fmt::format(R"(
    @T.prim_func
    def main(A: T.Buffer(({0},), "float32"), B: T.Buffer(({0},), "float32")):
        tx = T.launch_thread("threadIdx.x", {0})
        {1}
  )",
                     threads, statement);
}
std::vector<float> of_lanes(std::string_view value, int threads = 32) {
  const Tensor A = floats(counted(threads)), B = floats(std::vector<float>(static_cast<size_t>(threads)));
  run_kernel(kernel(fmt::format("B[tx] = {}", value), threads), {A, B});
  return content(B);
}
std::string fault_of_lanes(std::string_view statement, int threads = 32) {
  const Tensor A = floats(counted(threads)), B = floats(std::vector<float>(static_cast<size_t>(threads)));
  return fault(kernel(statement, threads), {A, B});
}
template <class Source>
std::vector<float> expected(Source source, int64_t threads = 32) {
  std::vector<float> values;
  for (int64_t n = 0; n < threads; ++n) values.push_back(static_cast<float>(source(n)));
  return values;
}

}  // namespace

TEST(WarpShuffle, ReadsTheLaneOfThisNumber) {
  EXPECT_EQ(of_lanes("T.tvm_warp_shuffle(T.uint32(0xFFFFFFFF), A[tx], 31 - tx, 32, 32)"),
            expected([](int64_t n) { return 31 - n; }));
  // in parts of eight lanes, the number counts from the first of them
  EXPECT_EQ(of_lanes("T.tvm_warp_shuffle(T.uint32(0xFFFFFFFF), A[tx], 9, 8, 32)"),
            expected([](int64_t n) { return n / 8 * 8 + 1; }));
}

TEST(WarpShuffle, ReadsUpAndDownInItsPart) {
  EXPECT_EQ(of_lanes("T.tvm_warp_shuffle_up(T.uint32(0xFFFFFFFF), A[tx], 3, 16, 32)"),
            expected([](int64_t n) { return n % 16 < 3 ? n : n - 3; }));
  EXPECT_EQ(of_lanes("T.tvm_warp_shuffle_down(T.uint32(0xFFFFFFFF), A[tx], 3, 16, 32)"),
            expected([](int64_t n) { return n % 16 + 3 > 15 ? n : n + 3; }));
}

TEST(WarpShuffle, ReadsTheLaneThatDiffersInABit) {
  EXPECT_EQ(of_lanes("T.tvm_warp_shuffle_xor(T.uint32(0xFFFFFFFF), A[tx], 5, 32, 32)"),
            expected([](int64_t n) { return n ^ 5; }));
  EXPECT_EQ(of_lanes("T.tvm_warp_shuffle_xor(T.uint32(0xFFFFFFFF), A[tx], 4, 4, 32)"),
            expected([](int64_t n) { return (n ^ 4) > n / 4 * 4 + 3 ? n : n ^ 4; }));
}

TEST(WarpShuffle, EachWarpIsByItself) {
  EXPECT_EQ(of_lanes("T.tvm_warp_shuffle(T.uint32(0xFFFFFFFF), A[tx], 0, 32, 32)", 70),
            expected([](int64_t n) { return n / 32 * 32; }, 70));
}

TEST(WarpShuffle, AddsTheLanesOfAWarp) {
  const Tensor A = floats(counted(64)), B = floats({0, 0});
  run_kernel(R"(
    @T.prim_func
    def main(A: T.Buffer((64,), "float32"), B: T.Buffer((2,), "float32")):
        tx = T.launch_thread("threadIdx.x", 64)
        S = T.alloc_buffer((1,), scope="local")
        S[0] = A[tx]
        for n in range(5):
            S[0] = S[0] + T.tvm_warp_shuffle_down(T.uint32(0xFFFFFFFF), S[0], T.shift_right(16, n), 32, 32)
        if tx % 32 == 0:
            B[tx // 32] = S[0]
  )",
             {A, B});
  EXPECT_EQ(content(B), (std::vector<float>{31 * 16, 31 * 16 + 32 * 32}));
}

TEST(WarpShuffle, SomeLanesAlone) {
  // lanes 0 to 3 exchange values while the others do something else
  const Tensor A = floats(counted(32)), B = floats(std::vector<float>(32));
  run_kernel(kernel(R"(if tx < 4:
            B[tx] = T.tvm_warp_shuffle(T.uint32(15), A[tx], 3 - tx, 32, 32)
        else:
            B[tx] = T.float32(-1))"),
             {A, B});
  EXPECT_EQ(content(B), expected([](int64_t n) { return n < 4 ? 3 - n : -1; }));
}

TEST(WarpShuffle, LanesThatNeverCome) {
  EXPECT_EQ(fault_of_lanes(R"(if tx < 30:
            B[tx] = T.tvm_warp_shuffle(T.uint32(0xFFFFFFFF), A[tx], 0, 32, 32))"),
            "tvm_warp_shuffle: threadIdx.x = 0 waits for threads of its warp that do not come: threadIdx.x = "
            "30 has ended, "
            "threadIdx.x = 31 has ended at tx = 0");
  EXPECT_EQ(fault_of_lanes(R"(if tx < 27:
            B[tx] = T.tvm_warp_shuffle_up(T.uint32(0xFFFFFFFF), A[tx], 1, 32, 32)
        T.tvm_storage_sync("shared"))"),
            "tvm_warp_shuffle_up: threadIdx.x = 0 waits for threads of its warp that do not come: "
            "threadIdx.x = 27 waits at "
            "another place, threadIdx.x = 28 waits at another place, threadIdx.x = 29 waits at another "
            "place, and 2 more at "
            "tx = 0");
}

TEST(WarpShuffle, LanesThatTheMaskDoesNotName) {
  EXPECT_EQ(fault_of_lanes("B[tx] = T.tvm_warp_shuffle(T.uint32(3), A[tx], 0, 32, 32)"),
            "tvm_warp_shuffle: threadIdx.x = 2 is lane 2, which the mask 0x00000003 does not name at tx = 2");
  EXPECT_EQ(fault_of_lanes(R"(if tx < 2:
            B[tx] = T.tvm_warp_shuffle_down(T.uint32(3), A[tx], 1, 32, 32))"),
            "tvm_warp_shuffle_down: threadIdx.x = 1 reads lane 2, which the mask 0x00000003 does not name at "
            "tx = 1");
}

TEST(WarpShuffle, ALaneThatNoThreadIs) {
  EXPECT_EQ(
      fault_of_lanes("B[tx] = T.tvm_warp_shuffle_down(T.uint32(0xFFFFFFFF), A[tx], 1, 32, 32)", 40),
      "tvm_warp_shuffle_down: threadIdx.x = 39 reads lane 8, but its warp has no such thread at tx = 39");
}

TEST(WarpShuffle, WidthsAndWarps) {
  EXPECT_EQ(fault_of_lanes("B[tx] = T.tvm_warp_shuffle(T.uint32(0xFFFFFFFF), A[tx], 0, 12, 32)"),
            "tvm_warp_shuffle: the width is 12, expected a power of two up to 32 at tx = 0");
  EXPECT_EQ(
      fault_of_lanes("B[tx] = T.tvm_warp_shuffle(T.uint32(0xFFFFFFFF), A[tx], 0, 32, 64)"),
      "tvm_warp_shuffle: the interpreter has warps of 1, 2, 4, 8, 16 or 32 threads, found 64 at tx = 0");
  EXPECT_EQ(of_lanes("T.tvm_warp_shuffle(T.uint32(0xFF), A[tx], 0, 8, 8)"),
            expected([](int64_t n) { return n / 8 * 8; }));
}

TEST(WarpShuffle, OutsideOfAKernel) {
  EXPECT_EQ(fault(R"(
    @T.prim_func
    def main(A: T.Buffer((1,), "float32")):
        A[0] = T.tvm_warp_shuffle(T.uint32(1), A[0], 0, 32, 32)
  )",
                  {floats({1})}),
            "tvm_warp_shuffle is outside of a kernel: no loop around it runs on threads of a GPU");
}

}  // namespace tilewright::analysis
