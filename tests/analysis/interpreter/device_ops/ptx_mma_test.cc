// mma: fragments by the layouts of the PTX ISA, written out here element by element, and the product of the matrices.
#include "kernel_testing.h"
#include "tilewright/analysis/interpreter/scalar.h"

namespace tilewright::analysis {
namespace {

struct Case {
  std::string_view shape, type, dtype, sum_type, sum_dtype;
  int k;
};
void PrintTo(const Case& each, std::ostream* out) { *out << each.shape << " of " << each.type; }

// The row and column of A that lane `lane` has at `n`, as tables of the PTX ISA say for each shape.
std::pair<int, int> place_in_a(const Case& each, int lane, int n) {
  const int g = lane >> 2, t = lane % 4;
  if (each.type == "tf32") return {n == 0 || n == 2 ? g : g + 8, n < 2 ? t : t + 4};
  if (each.type == "int8")
    return {(n < 4 || (n >= 8 && n < 12)) ? g : g + 8, t * 4 + (n & 3) + (n >= 8 ? 16 : 0)};
  if (each.k == 8) return {n < 2 ? g : g + 8, t * 2 + (n & 1)};
  return {(n < 2 || (n >= 4 && n < 6)) ? g : g + 8, t * 2 + (n & 1) + (n >= 4 ? 8 : 0)};
}
std::pair<int, int> place_in_b(const Case& each, int lane, int n) {
  const int g = lane >> 2, t = lane % 4;
  if (each.type == "tf32") return {n == 0 ? t : t + 4, g};
  if (each.type == "int8") return {t * 4 + (n & 3) + (n >= 4 ? 16 : 0), g};
  return {t * 2 + (n & 1) + (n >= 2 ? 8 : 0), g};
}

int a_of(int row, int k) { return (row * 5 + k * 3) % 11 - 5; }
int b_of(int k, int column) { return (k * 7 + column * 2) % 9 - 4; }

// A tensor of [lane][n] from the places of the lanes.
template <class Value>
Tensor fragments(std::string_view dtype_name, int size, Value value) {
  const DataType dtype = DataType::parse(dtype_name);
  std::vector<char> bytes(static_cast<size_t>(32 * size * dtype.num_bytes()));
  for (int lane = 0; lane < 32; ++lane) {
    for (int n = 0; n < size; ++n) {
      const double number = value(lane, n);
      store_element(bytes.data(), int64_t{dtype.bits} * (lane * size + n), dtype,
                    dtype.is_float() ? float_scalar(number) : int_scalar(static_cast<int64_t>(number)));
    }
  }
  const std::vector<int64_t> shape{32 * size};
  return Tensor::copy_of(bytes.data(), bytes.size(), shape, dtype);
}

class PtxMma : public ::testing::TestWithParam<Case> {};

TEST_P(PtxMma, MultipliesTheMatricesOfAWarp) {
  const Case& each = GetParam();
  const int size_a = each.k / 2, size_b = each.k / 4;
  const Tensor A = fragments(each.dtype, size_a, [&](int lane, int n) {
    const auto [row, k] = place_in_a(each, lane, n);
    return a_of(row, k);
  });
  const Tensor B = fragments(each.dtype, size_b, [&](int lane, int n) {
    const auto [k, column] = place_in_b(each, lane, n);
    return b_of(k, column);
  });
  const auto place_in_c = [](int lane, int n) {
    return std::pair(lane / 4 + n / 2 * 8, lane % 4 * 2 + n % 2);
  };
  const Tensor C = fragments(each.sum_dtype, 4, [&](int lane, int n) { return lane + n; });
  const Tensor expected = fragments(each.sum_dtype, 4, [&](int lane, int n) {
    const auto [row, column] = place_in_c(lane, n);
    int sum = lane + n;
    for (int k = 0; k < each.k; ++k) sum += a_of(row, k) * b_of(k, column);
    return sum;
  });
  run_kernel(fmt::format(R"(
    @T.prim_func
    def main(A: T.Buffer(({0},), "{2}"), B: T.Buffer(({1},), "{2}"), C: T.Buffer((128,), "{3}")):
        LA = T.alloc_buffer(({4},), "{2}", scope="local")
        LB = T.alloc_buffer(({5},), "{2}", scope="local")
        LC = T.alloc_buffer((4,), "{3}", scope="local")
        tx = T.launch_thread("threadIdx.x", 32)
        for n in range({4}):
            LA[n] = A[tx * {4} + n]
        for n in range({5}):
            LB[n] = B[tx * {5} + n]
        for n in range(4):
            LC[n] = C[tx * 4 + n]
        T.ptx_mma("{3}", "{6}", "row", "col", "{7}", "{7}", "{8}", LA.data, 0, LB.data, 0, LC.data, 0, False)
        for n in range(4):
            C[tx * 4 + n] = LC[n]
  )",
                         32 * size_a, 32 * size_b, each.dtype, each.sum_dtype, size_a, size_b, each.shape,
                         each.type, each.sum_type),
             {A, B, C});
  const auto bytes = static_cast<size_t>(128 * C.dtype().num_bytes());
  EXPECT_EQ(std::string(static_cast<const char*>(C.data()), bytes),
            std::string(static_cast<const char*>(expected.data()), bytes));
}

INSTANTIATE_TEST_SUITE_P(Shapes, PtxMma,
                         ::testing::Values(Case{"m16n8k16", "fp16", "float16", "fp32", "float32", 16},
                                           Case{"m16n8k16", "fp16", "float16", "fp16", "float16", 16},
                                           Case{"m16n8k8", "fp16", "float16", "fp32", "float32", 8},
                                           Case{"m16n8k16", "bf16", "bfloat16", "fp32", "float32", 16},
                                           Case{"m16n8k8", "tf32", "float32", "fp32", "float32", 8},
                                           Case{"m16n8k32", "int8", "int8", "int32", "int32", 32}));

// A 16 x 16 tile of accumulators is filled, changed and stored row by row.
TEST(PtxMmaStore, TwoMatricesSideBySide) {
  const Tensor C = floats(std::vector<float>(320));
  run_kernel(R"(
    @T.prim_func
    def main(C: T.Buffer((320,), "float32")):
        L = T.alloc_buffer((8,), scope="local")
        tx = T.launch_thread("threadIdx.x", 32)
        T.mma_fill("float32", 8, L.data, 0)
        for n in range(8):
            L[n] = L[n] + T.Cast("float32", tx * 8 + n)
        T.mma_store("float32", 16, 16, T.tvm_access_ptr(T.type_annotation("float32"), C.data, 0, 320, 2), L.data, 0, 20)
  )",
             {C});
  std::vector<float> expected(320);
  for (int lane = 0; lane < 32; ++lane) {
    for (int n = 0; n < 8; ++n) {
      const int row = 8 * (n % 4 / 2) + lane / 4, column = 8 * (n / 4) + lane % 4 * 2 + n % 2;
      expected[static_cast<size_t>(row * 20 + column)] = static_cast<float>(lane * 8 + n);
    }
  }
  EXPECT_EQ(content(C), expected);
}

std::string fault_of(std::string_view call, std::string_view threads = "32") {
  return fault(fmt::format(R"(
    @T.prim_func
    def main(A: T.Buffer((1,), "float32")):
        L = T.alloc_buffer((8,), "float16", scope="local")
        C = T.alloc_buffer((4,), scope="local")
        tx = T.launch_thread("threadIdx.x", {1})
        {0}
  )",
                           call, threads),
               {floats({0})});
}

TEST(PtxMmaFaults, WhatIsWrong) {
  const std::string rest = "L.data, 0, L.data, 0, C.data, 0, False)";
  EXPECT_EQ(fault_of(R"(T.ptx_mma("float32", "m16n8k16", "row", "col", "fp16", "fp16", "fp32", )" + rest),
            "ptx_mma: bytes 0 to 15 of L are read before anything is written to them at tx = 0");
  EXPECT_EQ(fault_of(R"(T.ptx_mma("float32", "m8n8k4", "row", "col", "fp16", "fp16", "fp32", )" + rest),
            "ptx_mma: the interpreter does not know m8n8k4 of row fp16 and col fp16 added to fp32");
  EXPECT_EQ(fault_of(R"(T.ptx_mma("float32", "m16n8k16", "row", "row", "fp16", "fp16", "fp32", )" + rest),
            "ptx_mma: the interpreter does not know m16n8k16 of row fp16 and row fp16 added to fp32");
  EXPECT_EQ(fault_of(R"(T.ptx_mma("float32", "m16n8k16", "row", "col", "int4", "int4", "int32", )" + rest),
            "ptx_mma: the interpreter does not know elements of type int4");
  EXPECT_EQ(fault_of(R"(T.ptx_mma("float32", "m16n8k16", "row", "col", "fp16", "fp16", "fp32", L.data, 0))"),
            "ptx_mma takes 13 arguments, found 8");
  EXPECT_EQ(fault_of(R"(T.ptx_mma("int32", "m16n8k16", "row", "col", "fp16", "fp16", "fp32", )" +
                     rest.substr(0, rest.size() - 1) + ", \"xor\")"),
            "ptx_mma: the interpreter does not know products of single bits");
  EXPECT_EQ(
      fault_of(R"(T.ptx_mma("float32", "m16n8k16", "row", "col", "fp16", "fp16", "fp32", )" + rest, "8"),
      "ptx_mma needs all 32 threads of a warp, but a block has 8 at tx = 0");
  EXPECT_EQ(fault_of("T.mma_store(\"float16\", 8, 8, A.data, L.data, 0, 8)"),
            "mma_store stores 16 rows of a multiple of 8 columns, found 8 x 8 at tx = 0");
}

}  // namespace
}  // namespace tilewright::analysis
