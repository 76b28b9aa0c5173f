// Kernels in the languages of devices: OpenCL C computes on PoCL what the interpreter computes, nvcc takes CUDA C and
// spills no register, the text of small kernels, refusals.
#include "tilewright/codegen/device/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "kernel_testing.h"

namespace tilewright::codegen {
namespace {
using namespace tir;

std::string text_of(DeviceLanguage language, std::string_view program) {
  const ir::IRModule lowered[] = {lowered_kernel(program)};
  return emit_device(language, lowered);
}

class KernelTest : public testing::TestWithParam<KernelProgram> {};

TEST_P(KernelTest, OpenCLComputesWhatTheInterpreterComputes) {
  OpenCL* opencl = OpenCL::find();
  if (!opencl) GTEST_SKIP() << "no OpenCL device: install pocl-opencl-icd and ocl-icd-libopencl1";
  const ir::IRModule lowered[] = {lowered_kernel(GetParam().text)};
  const PrimFunc func = ir::ref_as<PrimFuncNode>(lowered[0]->lookup("f"));
  const std::vector<Value> expected = kernel_args(func), actual = kernel_args(func);
  analysis::InterpretOptions options;
  interpret(func, expected, options);
  const std::vector<KernelText> kernels = kernel_texts(DeviceLanguage::kOpenCL, lowered);
  ASSERT_EQ(kernels.size(), 1u);
  ASSERT_EQ(opencl->build(kernels[0].text, "-Werror"), "");
  opencl->run("f_kernel_0", grid_of(func), kernels[0].block, func, actual);
  for (size_t n = 0; n < actual.size(); ++n) {
    if (func->buffers[n])
      expect_close(actual[n].as_tensor(), expected[n].as_tensor(), func->buffers[n]->name);
  }
}

// Compiles CUDA C for an architecture; the messages of ptxas about registers and spills.
std::string ptxas_report(const std::string& text, const char* arch) {
  std::string pattern = (std::filesystem::temp_directory_path() / "tilewright-cuda-XXXXXX").string();
  const std::filesystem::path folder = mkdtemp(pattern.data());
  std::ofstream(folder / "f.cu") << text;
  const std::string command = "cd " + folder.string() + " && nvcc -cubin -arch=" + arch +
                              " -Xptxas -v,-warn-spills -Werror all-warnings -o f.cubin f.cu 2>&1";
  std::string messages;
  FILE* output = popen(command.c_str(), "r");
  for (int c; (c = fgetc(output)) != EOF;) messages += static_cast<char>(c);
  const int status = pclose(output);
  std::filesystem::remove_all(folder);
  return status == 0 ? messages : "nvcc failed\n" + messages + text;
}

TEST_P(KernelTest, NvccTakesItAndSpillsNothing) {
  if (std::system("nvcc --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "nvcc is not in PATH";
  const std::string text = text_of(DeviceLanguage::kCuda, GetParam().text);
  for (const char* arch : {"sm_75", "sm_90a"}) {
    const std::string report = ptxas_report(text, arch);
    EXPECT_THAT(report, testing::HasSubstr("0 bytes spill stores, 0 bytes spill loads")) << text;
    // the reduction of large angles has an array
    if (GetParam().name != kFunctions.name)
      EXPECT_THAT(report, testing::HasSubstr("0 bytes stack frame")) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, KernelTest, testing::ValuesIn(kKernelPrograms),
                         [](const auto& test) { return std::string(test.param.name); });

std::string refusal(DeviceLanguage language, std::string_view program) {
  try {
    return "no error: " + text_of(language, program);
  } catch (const Error& error) {
    return error.text() + (error.help_text().empty() ? "" : "; help: " + error.help_text());
  }
}

TEST(Device, TextOfVectors) {
  EXPECT_EQ(text_of(DeviceLanguage::kCuda, kVectors.text), R"(// Made by tilewright.
// NaN if one is
static __device__ __forceinline__ float tw_max_float32(float a, float b) {
  const float chosen = a > b ? a : b;
  return isnan(a) ? a : chosen;
}

// f: 5 blocks of 16 threads
extern "C" __global__ void __launch_bounds__(16)
    f_kernel_0(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C) {
  __shared__ __align__(16) float S[64];
  const int bx = blockIdx.x;
  const int tx = threadIdx.x;
  *(float4*)&S[tx * 4] = *(const float4*)&A[bx * 64 + tx * 4];
  __syncthreads();
  const float4 s_part = *(float4*)&S[60 - tx * 4];
  const float value = A[tx];
  const float4 b_part = *(const float4*)&B[bx * 64 + tx * 4];
  *(float4*)&C[bx * 64 + tx * 4] =
      make_float4(tw_max_float32(s_part.x, value) * b_part.x + 2.0f,
      tw_max_float32(s_part.y, value) * b_part.y + 2.0f, tw_max_float32(s_part.z, value) * b_part.z
      + 2.0f, tw_max_float32(s_part.w, value) * b_part.w + 2.0f);
}
)");
  EXPECT_THAT(text_of(DeviceLanguage::kOpenCL, kVectors.text), testing::EndsWith(R"(
// f: 5 blocks of 16 threads
__kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void f_kernel_0(__global const float* restrict A, __global const float* restrict B,
    __global float* restrict C) {
  __local float S[64] __attribute__((aligned(16)));
  const int bx = get_group_id(0);
  const int tx = get_local_id(0);
  vstore4(vload4(0, &A[bx * 64 + tx * 4]), 0, &S[tx * 4]);
  barrier(CLK_LOCAL_MEM_FENCE);
  const float4 s_part = vload4(0, &S[60 - tx * 4]);
  const float value = A[tx];
  const float4 b_part = vload4(0, &B[bx * 64 + tx * 4]);
  vstore4((float4)(tw_max_float32(s_part.x, value) * b_part.x + 2.0f,
      tw_max_float32(s_part.y, value) * b_part.y + 2.0f, tw_max_float32(s_part.z, value) * b_part.z
      + 2.0f, tw_max_float32(s_part.w, value) * b_part.w + 2.0f), 0, &C[bx * 64 + tx * 4]);
}
)"));
}

TEST(Device, ALoadOfTwoLanesInAStatementIsDoneOnce) {
  EXPECT_THAT(text_of(DeviceLanguage::kCuda, R"(
    @T.prim_func
    def f(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for tx in T.thread_binding(4, thread="threadIdx.x"):
            B[T.Ramp(tx * 2, 1, 2)] = A[T.Ramp(tx * 2, 1, 2)] * A[T.Ramp(tx * 2, 1, 2)]
  )"),
              testing::HasSubstr(R"(
  const float2 a_part = *(const float2*)&A[tx * 2];
  *(float2*)&B[tx * 2] = make_float2(a_part.x * a_part.x, a_part.y * a_part.y);
)"));
}

TEST(Device, WithoutAlignmentLanesAreLoadedOneByOne) {
  EXPECT_THAT(text_of(DeviceLanguage::kCuda, R"(
    @T.prim_func
    def f(A: T.Buffer((9,), "float32"), B: T.Buffer((8,), "float32")):
        for tx in T.thread_binding(4, thread="threadIdx.x"):
            B[T.Ramp(tx * 2, 1, 2)] = A[T.Ramp(tx * 2 + 1, 1, 2)]
  )"),
              testing::HasSubstr("  *(float2*)&B[tx * 2] = make_float2(A[tx * 2 + 1], A[tx * 2 + 2]);\n"));
}

TEST(Device, KernelsOfAModule) {
  const ir::IRModule lowered[] = {lowered_kernel(kAllAxes.text), lowered_kernel(kVectorAdd.text)};
  const std::vector<KernelText> kernels = kernel_texts(DeviceLanguage::kCuda, lowered);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "f_kernel_0");
  EXPECT_EQ(kernels[0].function, "f");
  EXPECT_THAT(kernels[0].params, testing::ElementsAre(DataType::handle(), kInt32, kInt64, kFloat32));
  EXPECT_THAT(kernels[0].block, testing::ElementsAre(5, 3, 2));
  EXPECT_THAT(kernels[0].text, testing::HasSubstr("// f: 7 x 5 x n blocks of 5 x 3 x 2 threads\n"));
  EXPECT_THAT(kernels[1].block, testing::ElementsAre(64, 1, 1));
  EXPECT_EQ(emit_cuda({}), "");
}

// The texts of a barrier of global memory, which only OpenCL and Metal tell from others.
TEST(Device, BarriersOfGlobalMemory) {
  constexpr std::string_view kProgram = R"(
    @T.prim_func
    def f(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for tx in T.thread_binding(8, thread="threadIdx.x"):
            A[tx] = T.float32(1)
            T.tvm_storage_sync("shared")
            B[tx] = A[7 - tx]
  )";
  EXPECT_THAT(text_of(DeviceLanguage::kOpenCL, kProgram),
              testing::HasSubstr("barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"));
  EXPECT_THAT(text_of(DeviceLanguage::kMetal, kProgram),
              testing::HasSubstr("threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);"));
  EXPECT_THAT(text_of(DeviceLanguage::kCuda, kProgram), testing::HasSubstr("__syncthreads();"));
}

constexpr std::string_view kWarpSum = R"(
    @T.prim_func
    def f(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            S = T.alloc_buffer((2,), scope="local")
            mask = T.alloc_buffer((1,), "uint32", scope="local")
            mask[0] = T.tvm_warp_activemask()
            S[0] = A[tx]
            S[1] = T.tvm_warp_shuffle_down(mask[0], S[0], 16, 32, 32)
            S[0] = T.tvm_warp_shuffle(mask[0], S[0] + S[1], 0, 32, 32)
            T.tvm_storage_sync("warp")
            B[tx] = S[0]
)";

TEST(Device, WarpShuffles) {
  EXPECT_THAT(text_of(DeviceLanguage::kCuda, kWarpSum), testing::HasSubstr(R"(
  mask[0] = __activemask();
  S[0] = A[tx];
  S[1] = __shfl_down_sync(mask[0], S[0], 16, 32);
  S[0] = __shfl_sync(mask[0], S[0] + S[1], 0, 32);
  __syncwarp();
)"));
  EXPECT_THAT(text_of(DeviceLanguage::kMetal, kWarpSum), testing::HasSubstr(R"(
  S[1] = simd_shuffle_down(S[0], 16);
  S[0] = simd_shuffle(S[0] + S[1], 0);
  simdgroup_barrier(mem_flags::mem_threadgroup);
)"));
}

TEST(Device, Refusals) {
  EXPECT_EQ(
      refusal(DeviceLanguage::kOpenCL, kWarpSum),
      "OpenCL C has no warp shuffles: devices need no subgroups; help: exchange the values in shared memory");
  EXPECT_EQ(refusal(DeviceLanguage::kMetal, kAllAxes.text),
            "Metal has no values of dtype float64; help: cast to float32 before the kernel");
  const auto body = [](std::string_view statement) {
    return fmt::format(R"(
    @T.prim_func
    def f(A: T.Buffer((8,), "float32"), n: T.int32):
        for tx in T.thread_binding(8, thread="threadIdx.x"):
            {}
)",
                       statement);
  };
  EXPECT_EQ(
      refusal(DeviceLanguage::kOpenCL, body("T.tvm_storage_sync(\"warp\")")),
      "OpenCL C has no barrier of a warp; help: use T.tvm_storage_sync(\"shared\") where all threads of a "
      "block reach it");
  EXPECT_EQ(
      refusal(DeviceLanguage::kCuda, body("T.tvm_storage_sync(\"global\")")),
      "a barrier of scope global is not supported in CUDA C; help: end the kernel there: the next one sees "
      "what it wrote");
  EXPECT_EQ(refusal(DeviceLanguage::kCuda, body("A[tx] = T.ldexp(A[tx], A[tx])")),
            "operator ldexp is not supported in CUDA C");
  EXPECT_EQ(
      refusal(DeviceLanguage::kCuda, body("assert n > 0, \"n is too small\"")),
      "a kernel cannot report an error: n is too small; help: check it before the loops over blocks and "
      "threads");
}

}  // namespace
}  // namespace tilewright::codegen
