// How warps reach memory: sectors, banks, threads that take part.
#include "tilewright/analysis/warp_accesses.h"

#include "script_testing.h"
#include "tilewright/target/target.h"

namespace tilewright::analysis {
namespace {

// The accesses of `threads` threads that run `lines`, with float32 buffers A and B of 4,096 elements in memory and S of 4,096 in
// shared memory.
std::vector<WarpAccess> accesses(const std::string& lines, int threads = 32) {
  std::string program = fmt::format(R"(
    @T.prim_func
    def main(A: T.Buffer((4096,), "float32"), B: T.Buffer((4096,), "float32"), n: T.int32):
        for bx in T.thread_binding(8, thread="blockIdx.x"):
            for tx in T.thread_binding({}, thread="threadIdx.x"):
                S = T.decl_buffer((4096,), "float32", scope="shared")
)",
                                    threads);
  size_t begin = 0;
  while (begin < lines.size()) {
    const size_t end = std::min(lines.find('\n', begin), lines.size());
    program += "                " + lines.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return warp_accesses(script::parse_func_unchecked(program + "  "),
                       target::gpu_features_of(target::parse_target("cuda -arch=sm_80")).features);
}
// "A r 4/4" for each: the buffer, what is done, sectors and the least of them, or ways of banks.
std::string found(const std::string& lines, int threads = 32) {
  std::string text;
  for (const WarpAccess& access : accesses(lines, threads)) {
    text += text.empty() ? "" : ", ";
    text += fmt::format("{} {} ", access.buffer->name, access.is_write ? "w" : "r");
    text += access.bank_ways ? fmt::format("{} ways", access.bank_ways)
                             : fmt::format("{}/{}", access.num_sectors, access.least_sectors);
  }
  return text;
}

}  // namespace

TEST(WarpAccesses, SectorsOfMemory) {
  EXPECT_EQ(found("A[bx * 32 + tx] = B[n]"), "B r 1/4, A w 4/4");
  EXPECT_EQ(found("A[tx * 2] = B[tx * 64]"), "B r 32/4, A w 8/4");
  // one element later: a sector more
  EXPECT_EQ(found("A[bx * 32 + tx + 1] = B[31 - tx]"), "B r 4/4, A w 5/4");
  EXPECT_EQ(found("A[tx] = B[tx]", 20), "B r 3/3, A w 3/3");
}

TEST(WarpAccesses, BanksOfSharedMemory) {
  EXPECT_EQ(found("S[tx] = S[0]"), "S r 1 ways, S w 1 ways");
  EXPECT_EQ(found("S[tx * 2] = S[tx * 32]"), "S r 32 ways, S w 2 ways");
  EXPECT_EQ(found("S[tx * 33] = S[tx // 4 * 32]"), "S r 8 ways, S w 1 ways");
}

TEST(WarpAccesses, VectorsGoInParts) {
  // eight threads at a time have 128 bytes
  EXPECT_EQ(found("S[tx * 4:tx * 4 + 4] = A[tx * 4:tx * 4 + 4]"), "A r 16/16, S w 1 ways");
  EXPECT_EQ(found("S[tx * 32:tx * 32 + 4] = A[tx * 8:tx * 8 + 4]"), "A r 32/16, S w 8 ways");
}

TEST(WarpAccesses, ThreadsThatDoNot) {
  EXPECT_EQ(found("if tx < 8:\n    A[tx] = T.float32(0)\nelse:\n    A[tx] = T.float32(1)"),
            "A w 1/1, A w 3/3");
  EXPECT_EQ(found("A[tx] = T.if_then_else(tx < 16, B[tx * 8], T.float32(0))"), "B r 16/2, A w 4/4");
  EXPECT_EQ(found("if tx > 50:\n    A[tx] = T.float32(0)"), "");
}

TEST(WarpAccesses, LoopsNamesAndWhatIsNotKnown) {
  EXPECT_EQ(found("for k in range(4):\n    x: T.int32 = tx * 2 + k\n    A[x] = T.float32(0)"), "A w 8/4");
  // in the first iteration
  EXPECT_EQ(found("for k in range(4):\n    A[tx * (k + 1)] = T.float32(0)"), "A w 4/4");
  EXPECT_EQ(found("A[T.Cast(\"int32\", B[tx])] = T.float32(0)"), "B r 4/4");
}

TEST(WarpAccesses, SizeOfABlock) {
  const BlockSize size = block_size(script::parse_func_unchecked(R"(
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), n: T.int32):
        for bx in T.thread_binding(5, thread="blockIdx.x"):
            for by in T.thread_binding(7, thread="blockIdx.y"):
                for tx in T.thread_binding(32, thread="threadIdx.x"):
                    for ty in T.thread_binding(3, thread="threadIdx.y"):
                        S = T.decl_buffer((10,), "float16", scope="shared")
                        L = T.decl_buffer((10,), "float16", scope="local")
                        S[tx] = T.float16(0)
                        L[0] = T.float16(0)
  )"));
  EXPECT_EQ(size.threads, 96);
  EXPECT_EQ(size.blocks, 35);
  EXPECT_EQ(size.shared_bytes, 20);
}

}  // namespace tilewright::analysis
