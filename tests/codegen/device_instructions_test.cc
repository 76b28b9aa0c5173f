// Instructions of tensor cores and asynchronous copies in CUDA C: the emulation computes what the interpreter computes, and
// nvcc takes the text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emulation_testing.h"

namespace tilewright::codegen {
namespace {

constexpr std::string_view kProduct = R"(
@T.prim_func
def f(A: T.Buffer((256,), "float16"), B: T.Buffer((128,), "float16"), C: T.Buffer((128,), "float32")):
    T.func_attr({"tir.noalias": True})
    A_shared = T.alloc_buffer((256,), "float16", scope="shared")
    B_shared = T.alloc_buffer((128,), "float16", scope="shared")
    for tx in T.thread_binding(32, thread="threadIdx.x"):
        left = T.alloc_buffer((8,), "float16", scope="local")
        right = T.alloc_buffer((4,), "float16", scope="local")
        sums = T.alloc_buffer((4,), "float32", scope="local")
        T.ptx_cp_async("float16", A_shared.data, tx * 8, A.data, tx * 8, 16)
        T.ptx_cp_async("float16", B_shared.data, tx * 4, B.data, tx * 4, 8)
        T.ptx_commit_group()
        T.ptx_wait_group(0)
        T.tvm_storage_sync("shared")
        T.ptx_ldmatrix("float16", False, 4, ".b16", left.data, 0, A_shared.data, tx % 16 * 16 + tx // 16 * 8)
        T.ptx_ldmatrix("float16", True, 2, ".b16", right.data, 0, B_shared.data, tx % 16 * 8)
        T.mma_fill("float32", 4, sums.data, 0)
        T.ptx_mma("float32", "m16n8k16", "row", "col", "fp16", "fp16", "fp32", left.data, 0, right.data, 0, sums.data, 0, False)
        T.mma_store("float32", 16, 8, T.tvm_access_ptr(T.type_annotation("float32"), C.data, 0, 128, 2), sums.data, 0, 8)
)";

struct Types {
  std::string_view shape, type, dtype, sum_type, sum_dtype;
  int k;
};
constexpr Types kTypes[] = {{"m16n8k16", "fp16", "float16", "fp32", "float32", 16},
                            {"m16n8k16", "fp16", "float16", "fp16", "float16", 16},
                            {"m16n8k8", "fp16", "float16", "fp32", "float32", 8},
                            {"m16n8k16", "bf16", "bfloat16", "fp32", "float32", 16},
                            {"m16n8k8", "tf32", "float32", "fp32", "float32", 8},
                            {"m16n8k32", "int8", "int8", "int32", "int32", 32},
                            {"m16n8k32", "e4m3", "float8_e4m3fn", "fp32", "float32", 32},
                            {"m16n8k32", "e5m2", "float8_e5m2", "fp32", "float32", 32}};

// The parts of lanes are where the instruction wants them.
std::string product_of(const Types& types, bool saturates) {
  return fmt::format(R"(
@T.prim_func
def f(A: T.Buffer(({0},), "{2}"), B: T.Buffer(({1},), "{2}"), C: T.Buffer((128,), "{3}")):
    for tx in T.thread_binding(32, thread="threadIdx.x"):
        left = T.alloc_buffer(({4},), "{2}", scope="local")
        right = T.alloc_buffer(({5},), "{2}", scope="local")
        sums = T.alloc_buffer((4,), "{3}", scope="local")
        for n in T.unroll({4}):
            left[n] = A[tx * {4} + n]
        for n in T.unroll({5}):
            right[n] = B[tx * {5} + n]
        for n in T.unroll(4):
            sums[n] = C[tx * 4 + n]
        T.ptx_mma("{3}", "{6}", "row", "col", "{7}", "{7}", "{8}", left.data, 0, right.data, 0, sums.data, 0, {9})
        for n in T.unroll(4):
            C[tx * 4 + n] = sums[n]
)",
                     16 * types.k, 8 * types.k, types.dtype, types.sum_dtype, types.k / 2, types.k / 4,
                     types.shape, types.type, types.sum_type, saturates ? "True" : "False");
}

struct Programs {
  std::vector<ir::IRModule> lowered;
  std::vector<tir::PrimFunc> funcs;
};
Programs all_programs() {
  Programs all;
  const auto add = [&](const std::string& text) {
    all.lowered.push_back(lowered_kernel(text, "product_" + std::to_string(all.lowered.size())));
    all.funcs.push_back(script::parse_func_unchecked(text));
  };
  add(std::string(kProduct));
  for (const Types& types : kTypes) add(product_of(types, false));
  add(product_of(kTypes[5], true));
  return all;
}

TEST(DeviceInstructions, ComputeWhatTheInterpreterComputes) {
  const Programs all = all_programs();
  const std::vector<KernelText> kernels = kernel_texts(DeviceLanguage::kCuda, all.lowered);
  const Emulated emulated(emit_cuda(all.lowered));
  ASSERT_EQ(emulated.messages, "");
  for (size_t k = 0; k < kernels.size(); ++k) {
    const tir::PrimFunc& func = all.funcs[k];
    const std::vector<Value> expected = kernel_args(func, false), actual = kernel_args(func, false);
    analysis::interpret(func, expected, {});
    ASSERT_EQ(emulated.launch(kernels[k].name, func, kernels[k].block, actual), 0);
    expect_close(actual[2].as_tensor(), expected[2].as_tensor(), kernels[k].name);
  }
}

TEST(DeviceInstructions, NvccTakesThem) {
  if (std::system("nvcc --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "nvcc is not in PATH";
  const Programs all = all_programs();
  const TestFolder folder;
  std::ofstream(folder / "f.cu") << emit_cuda(all.lowered);
  const std::string report =
      output_of(fmt::format("nvcc -cubin -arch=sm_90a -Xptxas -v -Werror all-warnings -o {} {}",
                            (folder / "f.cubin").string(), (folder / "f.cu").string()));
  size_t count = 0;
  for (size_t at = 0; (at = report.find("0 bytes stack frame, 0 bytes spill stores", at + 1)) != report.npos;)
    ++count;
  EXPECT_EQ(count, all.lowered.size()) << report;
}

TEST(DeviceInstructions, TextOfAProduct) {
  const ir::IRModule lowered[] = {lowered_kernel(kProduct)};
  EXPECT_THAT(emit_cuda(lowered), testing::HasSubstr(R"(
  tw_cp_async16(&A_shared[tx * 8], &A[tx * 8]);
  tw_cp_async8(&B_shared[tx * 4], &B[tx * 4]);
  tw_cp_commit();
  tw_cp_wait<0>();
  __syncthreads();
  tw_ldmatrix_x4(&left[0], &A_shared[tx % 16 * 16 + tx / 16 * 8]);
  tw_ldmatrix_x2_trans(&right[0], &B_shared[tx % 16 * 8]);
  #pragma unroll
  for (int n = 0; n < 4; ++n) (&sums[0])[n] = 0;
  tw_mma_m16n8k16_f16_f16_f32(&sums[0], &left[0], &right[0]);
)"));
  EXPECT_THAT(emit_cuda(lowered), testing::HasSubstr(R"(
#ifndef TILEWRIGHT_CUDA_EMULATION
// begins a copy of 16 bytes to shared memory; GPUs before sm_80 copy at once
static __device__ __forceinline__ void tw_cp_async16(void* to, const void* from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
               "l"(from)
               : "memory");
#else
  *(int4*)to = *(const int4*)from;
#endif
}
#endif
)"));
}

std::string refusal_of(std::string statement) {
  const std::string program = fmt::format(R"(
@T.prim_func
def f(A: T.Buffer((256,), "float16"), n: T.int32):
    for tx in T.thread_binding(32, thread="threadIdx.x"):
        {}
)",
                                          statement);
  const ir::IRModule lowered[] = {lowered_kernel(program)};
  try {
    return "no error: " + emit_cuda(lowered);
  } catch (const Error& error) {
    return error.text() + (error.help_text().empty() ? "" : "; help: " + error.help_text());
  }
}

TEST(DeviceInstructions, Refusals) {
  EXPECT_EQ(refusal_of("T.ptx_cp_async(\"float16\", A.data, 0, A.data, 8, n)"),
            "the number of bytes of an asynchronous copy is no constant, which CUDA C asks for");
  EXPECT_EQ(refusal_of("T.ptx_cp_async(\"float16\", A.data, 0, A.data, 8, 12)"),
            "an asynchronous copy has 4, 8 or 16 bytes, not 12");
  EXPECT_EQ(
      refusal_of("T.mma_store(\"float16\", 16, 8, T.tvm_access_ptr(T.type_annotation(\"float32\"), A.data, "
                 "0, 8, 2), "
                 "A.data, 0, 8)"),
      "tvm_access_ptr of elements of dtype float32 is not supported in CUDA C; help: use T.address_of of an "
      "element");
  EXPECT_EQ(refusal_of("T.ptx_ldmatrix(\"float16\", False, 3, \".b16\", A.data, 0, A.data, 0)"),
            "ptx_ldmatrix reads 1, 2 or 4 matrices, not 3");
  EXPECT_EQ(
      refusal_of(
          "T.ptx_mma(\"float16\", \"m16n8k16\", \"row\", \"row\", \"fp16\", \"fp16\", \"fp16\", A.data, 0, "
          "A.data, 0, A.data, 0, False)"),
      "this product is not supported in CUDA C: m16n8k16 row row fp16 fp16 fp16; help: m16n8k16 of fp16 or "
      "bf16, "
      "m16n8k8 of tf32, m16n8k32 of int8, e4m3 and e5m2 can be used");
}

}  // namespace
}  // namespace tilewright::codegen
