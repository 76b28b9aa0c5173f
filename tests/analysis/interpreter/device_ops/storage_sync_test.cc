// Barriers of warps; those of blocks are in kernel_test.cc.
#include "kernel_testing.h"

namespace tilewright::analysis {
namespace {

// Each thread reads what its neighbour wrote, and has read before it is written again.
constexpr std::string_view kRotated = R"(
    @T.prim_func
    def main(A: T.Buffer((64,), "float32")):
        S = T.alloc_buffer((64,), scope="shared")
        tx = T.launch_thread("threadIdx.x", 64)
        for n in range(3):
            S[tx] = A[tx]
            T.tvm_storage_sync("warp")
            A[tx] = S[NEIGHBOUR]
            T.tvm_storage_sync("warp")
)";

std::string rotated(std::string_view neighbour) {
  std::string program(kRotated);
  program.replace(program.find("NEIGHBOUR"), 9, neighbour);
  return program;
}

}  // namespace

TEST(StorageSync, LanesOfAWarpSeeWhatWasWrittenBefore) {
  const Tensor A = floats(counted(64));
  run_kernel(rotated("tx // 32 * 32 + (tx + 1) % 32"), {A});
  std::vector<float> expected;
  for (int n = 0; n < 64; ++n) expected.push_back(static_cast<float>(n / 32 * 32 + (n + 3) % 32));
  EXPECT_EQ(content(A), expected);
}

TEST(StorageSync, OtherWarpsDoNot) {
  EXPECT_EQ(fault(rotated("(tx + 32) % 64"), {floats(counted(64))}),
            "two threads touch S[32] with no barrier between: threadIdx.x = 32 writes it, threadIdx.x = 0 "
            "reads it at "
            "tx = 0, n = 0");
}

TEST(StorageSync, ABarrierOfWarpsIsNoneForTheBlock) {
  EXPECT_EQ(fault(R"(
    @T.prim_func
    def main(A: T.Buffer((64,), "float32")):
        S = T.alloc_buffer((64,), scope="shared")
        tx = T.launch_thread("threadIdx.x", 64)
        S[tx] = A[tx]
        T.tvm_storage_sync("shared")
        A[tx] = S[63 - tx]
        T.tvm_storage_sync("warp")
        S[tx] = A[tx]
  )",
                  {floats(counted(64))}),
            "two threads touch S[0] with no barrier between: threadIdx.x = 63 reads it, threadIdx.x = 0 "
            "writes it at "
            "tx = 0");
}

TEST(StorageSync, AMissingBarrierOfAWarpIsARace) {
  std::string program = rotated("tx // 32 * 32 + (tx + 1) % 32");
  const std::string barrier = "            T.tvm_storage_sync(\"warp\")\n";
  program.erase(program.rfind(barrier), barrier.size());
  EXPECT_EQ(fault(program, {floats(counted(64))}),
            "two threads touch S[1] with no barrier between: threadIdx.x = 0 reads it, threadIdx.x = 1 "
            "writes it at "
            "tx = 1, n = 1");
}

TEST(StorageSync, LanesThatDoNotCome) {
  EXPECT_EQ(fault(R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        tx = T.launch_thread("threadIdx.x", 4)
        if tx < 3:
            T.tvm_storage_sync("warp")
        A[tx] = T.float32(0)
  )",
                  {floats(counted(4))}),
            "tvm_storage_sync: threadIdx.x = 0 waits for threads of its warp that do not come: threadIdx.x = "
            "3 has ended "
            "at tx = 0");
}

TEST(StorageSync, MemoryOfAWarp) {
  const Tensor A = floats(counted(64));
  run_kernel(R"(
    @T.prim_func
    def main(A: T.Buffer((64,), "float32")):
        tx = T.launch_thread("threadIdx.x", 64)
        W = T.alloc_buffer((32,), scope="warp")
        W[tx % 32] = A[tx]
        T.tvm_storage_sync("warp")
        A[tx] = W[31 - tx % 32]
  )",
             {A});
  std::vector<float> expected;
  for (int n = 0; n < 64; ++n) expected.push_back(static_cast<float>(n / 32 * 32 + 31 - n % 32));
  EXPECT_EQ(content(A), expected);
}

}  // namespace tilewright::analysis
