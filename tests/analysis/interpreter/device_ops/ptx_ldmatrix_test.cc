// ldmatrix: two neighbours of each matrix for each lane.
#include "kernel_testing.h"

namespace tilewright::analysis {
namespace {

// A warp reads COUNT matrices from rows of 8, and each lane writes what it gets.
std::vector<float> loaded(std::string_view transposed, int count) {
  const Tensor A = floats(counted(256)), B = floats(std::vector<float>(static_cast<size_t>(64 * count)));
  run_kernel(fmt::format(R"(
    @T.prim_func
    def main(A: T.Buffer((256,), "float32"), B: T.Buffer(({1},), "float32")):
        S = T.alloc_buffer((256,), "float16", scope="shared")
        L = T.alloc_buffer(({2},), "float16", scope="local")
        tx = T.launch_thread("threadIdx.x", 32)
        for n in range(8):
            S[tx * 8 + n] = T.Cast("float16", A[tx * 8 + n])
        T.tvm_storage_sync("shared")
        T.ptx_ldmatrix("float16", {0}, {3}, ".b16", L.data, 0, S.data, tx * 8)
        for n in range({2}):
            B[tx * {2} + n] = T.Cast("float32", L[n])
  )",
                         transposed, 64 * count, 2 * count, count),
             {A, B});
  return content(B);
}

}  // namespace

TEST(PtxLdmatrix, LanesGetNeighboursOfARow) {
  for (const int count : {1, 2, 4}) {
    std::vector<float> expected;
    for (int lane = 0; lane < 32; ++lane) {
      for (int matrix = 0; matrix < count; ++matrix) {
        for (int n = 0; n < 2; ++n)
          expected.push_back(static_cast<float>(matrix * 64 + lane / 4 * 8 + lane % 4 * 2 + n));
      }
    }
    EXPECT_EQ(loaded("False", count), expected);
  }
}

TEST(PtxLdmatrix, TransposedNeighboursOfAColumn) {
  std::vector<float> expected;
  for (int lane = 0; lane < 32; ++lane) {
    for (int matrix = 0; matrix < 4; ++matrix) {
      for (int n = 0; n < 2; ++n)
        expected.push_back(static_cast<float>(matrix * 64 + (lane % 4 * 2 + n) * 8 + lane / 4));
    }
  }
  EXPECT_EQ(loaded("True", 4), expected);
}

constexpr std::string_view kLoad = R"(
    @T.prim_func
    def main(A: T.Buffer((1,), "float32")):
        S = T.alloc_buffer((256,), "float16", scope="shared")
        L = T.alloc_buffer((8,), "float16", scope="local")
        tx = T.launch_thread("threadIdx.x", THREADS)
        CALL
)";
std::string fault_of(std::string_view call, std::string_view threads = "32") {
  std::string program(kLoad);
  program.replace(program.find("THREADS"), 7, threads);
  program.replace(program.find("CALL"), 4, call);
  return fault(program, {floats({0})});
}

TEST(PtxLdmatrix, WhatIsWrong) {
  EXPECT_EQ(fault_of("T.ptx_ldmatrix(\"float16\", False, 4, \".b16\", L.data, 0, S.data, tx * 8)"),
            "ptx_ldmatrix: bytes 0 to 3 of S are read before anything is written to them at tx = 0");
  EXPECT_EQ(fault_of("T.ptx_ldmatrix(\"float16\", False, 4, \".b16\", L.data, 0, S.data, tx * 8 + 4)"),
            "ptx_ldmatrix: bytes 8 to 23 of S do not begin at a multiple of 16 at tx = 0");
  EXPECT_EQ(fault_of("T.ptx_ldmatrix(\"float16\", False, 3, \".b16\", L.data, 0, S.data, tx * 8)"),
            "ptx_ldmatrix reads 1, 2 or 4 matrices, found 3 at tx = 0");
  EXPECT_EQ(fault_of("T.ptx_ldmatrix(\"float16\", False, 4, \".b8\", L.data, 0, S.data, tx * 8)"),
            "ptx_ldmatrix: the interpreter reads elements of type .b16, found .b8");
  EXPECT_EQ(fault_of("T.ptx_ldmatrix(\"float16\", False, 4, 1, L.data, 0, S.data, tx * 8)"),
            "ptx_ldmatrix: argument 2 is 1, expected a text in quotes");
  EXPECT_EQ(fault_of("T.ptx_ldmatrix(\"float16\", False, 4, \".b16\", L.data, 0)"),
            "ptx_ldmatrix takes 7 arguments, found 5");
  EXPECT_EQ(fault_of("T.ptx_ldmatrix(\"float16\", False, 4, \".b16\", L.data, 0, S.data, 0)", "48"),
            "ptx_ldmatrix needs all 32 threads of a warp, but a block has 48 at tx = 32");
}

}  // namespace tilewright::analysis
