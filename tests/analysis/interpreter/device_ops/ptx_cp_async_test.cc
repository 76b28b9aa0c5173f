// Asynchronous copies: what is copied is there after the wait of the thread, for others after a barrier too.
#include "kernel_testing.h"

namespace tilewright::analysis {
namespace {

// Each of 8 threads copies four elements for its neighbour; LINES come after the copies.
std::string kernel(std::string_view lines) {
  std::string program(R"(
    @T.prim_func
    def main(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        S = T.alloc_buffer((32,), scope="shared")
        tx = T.launch_thread("threadIdx.x", 8)
        T.ptx_cp_async("float32", S.data, tx * 4, A.data, tx * 4, 16)
LINES
  )");
  std::string indented;
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    indented += "        " + std::string(lines.substr(0, end)) + "\n";
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return program.replace(program.find("LINES\n"), 6, indented);
}
std::string fault_of(std::string_view lines) {
  return fault(kernel(lines), {floats(counted(32)), floats(std::vector<float>(32))});
}

constexpr std::string_view kReadsNeighbour =
    "for n in range(4):\n    B[tx * 4 + n] = S[(tx + 1) % 8 * 4 + n]";
constexpr std::string_view kReadsOwn = "for n in range(4):\n    B[tx * 4 + n] = S[tx * 4 + n]";

}  // namespace

TEST(PtxCpAsync, CopiesForTheBlock) {
  const Tensor A = floats(counted(32)), B = floats(std::vector<float>(32));
  run_kernel(kernel("T.ptx_commit_group()\nT.ptx_wait_group(0)\nT.tvm_storage_sync(\"shared\")\n" +
                    std::string(kReadsNeighbour)),
             {A, B});
  std::vector<float> expected;
  for (int n = 0; n < 32; ++n) expected.push_back(static_cast<float>((n + 4) % 32));
  EXPECT_EQ(content(B), expected);
}

TEST(PtxCpAsync, ItsOwnCopiesNeedNoBarrier) {
  const Tensor A = floats(counted(32)), B = floats(std::vector<float>(32));
  run_kernel(kernel("T.ptx_commit_group()\nT.ptx_wait_group(0)\n" + std::string(kReadsOwn)), {A, B});
  EXPECT_EQ(content(B), counted(32));
}

TEST(PtxCpAsync, ReadBeforeTheWait) {
  EXPECT_EQ(fault_of("T.ptx_commit_group()\n" + std::string(kReadsOwn)),
            "S[0] is read while an asynchronous copy to it is running: threadIdx.x = 0 began it at tx = 0 "
            "and has not "
            "waited for it at tx = 0, n = 0");
}

TEST(PtxCpAsync, TheWaitLeavesTheGroupOpen) {
  EXPECT_EQ(fault_of("T.ptx_commit_group()\nT.ptx_wait_group(1)\n" + std::string(kReadsOwn)),
            "S[0] is read while an asynchronous copy to it is running: threadIdx.x = 0 began it at tx = 0 "
            "and has not "
            "waited for it at tx = 0, n = 0");
  // what is in no group is not waited for
  EXPECT_EQ(fault_of("T.ptx_wait_group(0)\n" + std::string(kReadsOwn)),
            "S[0] is read while an asynchronous copy to it is running: threadIdx.x = 0 began it at tx = 0 "
            "and has not "
            "waited for it at tx = 0, n = 0");
}

TEST(PtxCpAsync, WrittenBeforeTheWait) {
  EXPECT_EQ(fault_of("S[tx * 4 + 1] = T.float32(0)"),
            "S[1] is written while an asynchronous copy to it is running: threadIdx.x = 0 began it at tx = 0 "
            "and has not "
            "waited for it at tx = 0");
  EXPECT_EQ(fault_of("T.ptx_cp_async(\"float32\", S.data, tx * 4 + 2, A.data, tx * 4, 8)"),
            "ptx_cp_async: bytes 8 to 15 of S are written while an asynchronous copy to it is running: "
            "threadIdx.x = 0 "
            "began it at tx = 0 and has not waited for it at tx = 0");
}

TEST(PtxCpAsync, ReadByAnotherThreadWithoutABarrier) {
  EXPECT_EQ(fault_of("T.tvm_storage_sync(\"shared\")\nT.ptx_commit_group()\nT.ptx_wait_group(0)\n" +
                     std::string(kReadsNeighbour)),
            "S[4] is read while an asynchronous copy to it is running: threadIdx.x = 1 began it at tx = 1 "
            "and has not "
            "waited for it at tx = 0, n = 0");
  EXPECT_EQ(fault_of("T.ptx_commit_group()\nT.ptx_wait_group(0)\nif tx > 0:\n    B[tx] = S[tx * 4 - 1]"),
            "two threads touch S[3] with no barrier between: threadIdx.x = 0 writes it, threadIdx.x = 1 "
            "reads it at "
            "tx = 1");
}

TEST(PtxCpAsync, TheNextCopyComesBeforeOthersHaveRead) {
  EXPECT_EQ(
      fault_of("T.ptx_commit_group()\nT.ptx_wait_group(0)\nT.tvm_storage_sync(\"shared\")\n" +
               std::string(kReadsNeighbour) +
               "\nT.ptx_cp_async(\"float32\", S.data, tx * 4, A.data, tx * 4, 16)\nT.ptx_commit_group()\n"
               "T.ptx_wait_group(0)"),
      "ptx_cp_async: two threads touch bytes 16 to 31 of S with no barrier between: threadIdx.x = 0 reads "
      "them, "
      "threadIdx.x = 1 writes them at tx = 1");
}

TEST(PtxCpAsync, NeverWaitedFor) {
  EXPECT_EQ(fault_of("T.ptx_commit_group()"),
            "threadIdx.x = 0 ends, but has not waited for its asynchronous copy to byte 0 of S at tx = 0");
  EXPECT_EQ(fault_of("T.ptx_wait_group(0)"),
            "threadIdx.x = 0 ends, but has not waited for its asynchronous copy to byte 0 of S at tx = 0");
}

TEST(PtxCpAsync, ZerosWhereTheConditionIsFalse) {
  const Tensor A = floats(counted(4)), B = floats(std::vector<float>(8));
  run_kernel(R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32"), B: T.Buffer((8,), "float32")):
        S = T.alloc_buffer((8,), scope="shared")
        tx = T.launch_thread("threadIdx.x", 8)
        T.ptx_cp_async("float32", S.data, tx, A.data, tx, 4, tx < 3)
        T.ptx_commit_group()
        T.ptx_wait_group(0)
        B[tx] = S[tx]
  )",
             {A, B});
  EXPECT_EQ(content(B), (std::vector<float>{0, 1, 2, 0, 0, 0, 0, 0}));
}

TEST(PtxCpAsync, TwoStages) {
  // the copy of the next part runs while this one is used
  const Tensor A = floats(counted(40)), B = floats(std::vector<float>(8));
  run_kernel(R"(
    @T.prim_func
    def main(A: T.Buffer((40,), "float32"), B: T.Buffer((8,), "float32")):
        S = T.alloc_buffer((16,), scope="shared")
        tx = T.launch_thread("threadIdx.x", 8)
        B[tx] = T.float32(0)
        T.ptx_cp_async("float32", S.data, tx, A.data, tx, 4)
        T.ptx_commit_group()
        for k in range(5):
            if k < 4:
                T.ptx_cp_async("float32", S.data, (k + 1) % 2 * 8 + tx, A.data, (k + 1) * 8 + tx, 4)
            T.ptx_commit_group()
            T.ptx_wait_group(1)
            T.tvm_storage_sync("shared")
            B[tx] = B[tx] + S[k % 2 * 8 + 7 - tx]
            T.tvm_storage_sync("shared")
  )",
             {A, B});
  std::vector<float> expected;
  for (int n = 0; n < 8; ++n) expected.push_back(static_cast<float>(5 * (7 - n) + 80));
  EXPECT_EQ(content(B), expected);
}

TEST(PtxCpAsync, SizesAndPlaces) {
  EXPECT_EQ(fault_of("T.ptx_cp_async(\"float32\", S.data, 0, A.data, 0, 12)"),
            "ptx_cp_async copies 4, 8 or 16 bytes, found 12 at tx = 0");
  EXPECT_EQ(fault_of("T.ptx_cp_async(\"float32\", S.data, 2, A.data, 0, 16)"),
            "ptx_cp_async: bytes 8 to 23 of S do not begin at a multiple of 16 at tx = 0");
  EXPECT_EQ(fault_of("T.ptx_cp_async(\"float32\", S.data, 32, A.data, 0, 4)"),
            "ptx_cp_async: bytes 128 to 131 of S are outside of the memory, which has 128 bytes at tx = 0");
  EXPECT_EQ(fault_of("T.ptx_cp_async(\"float32\", S.data, 0, A.data)"),
            "ptx_cp_async takes 5 or 6 arguments, found 3");
  EXPECT_EQ(fault_of("T.ptx_wait_group(-1)"),
            "ptx_wait_group leaves -1 groups open, expected 0 or more at tx = 0");
  EXPECT_EQ(fault(R"(
    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        S = T.alloc_buffer((4,), scope="shared")
        R = T.alloc_buffer((4,), scope="shared")
        tx = T.launch_thread("threadIdx.x", 4)
        T.ptx_cp_async("float32", S.data, tx, R.data, tx, 4)
  )",
                  {floats(counted(4))}),
            "ptx_cp_async: bytes 0 to 3 of R are read before anything is written to them at tx = 0");
}

}  // namespace tilewright::analysis
