// Kernels in the languages of devices: OpenCL C computes on PoCL what the interpreter computes, nvcc takes CUDA C and
// spills no register, the text of small kernels, refusals.
#include "tilewright/codegen/device/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

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
  opencl->run("f_kernel", grid_of(func), kernels[0].block, func, actual);
  for (size_t n = 0; n < actual.size(); ++n) {
    if (func->buffers[n])
      expect_close(actual[n].as_tensor(), expected[n].as_tensor(), func->buffers[n]->name);
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, KernelTest, testing::ValuesIn(kKernelPrograms),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Device, VectorsOfAllDtypesInOpenCL) {
  OpenCL* opencl = OpenCL::find();
  if (!opencl) GTEST_SKIP() << "no OpenCL device: install pocl-opencl-icd and ocl-icd-libopencl1";
  std::vector<ir::IRModule> lowered;
  for (const auto& [name, text] : vector_programs()) lowered.push_back(lowered_kernel(text, name));
  ASSERT_EQ(opencl->build(emit_opencl(lowered), "-Werror"), "");
  for (const auto& [name, text] : vector_programs()) {
    const PrimFunc func = script::parse_func_unchecked(text);
    const std::vector<Value> expected = kernel_args(func), actual = kernel_args(func);
    analysis::interpret(func, expected, {});
    const int64_t block[] = {7, 1, 1};
    opencl->run(name + "_kernel", grid_of(func), block, func, actual);
    for (const size_t n : {2, 3}) expect_close(actual[n].as_tensor(), expected[n].as_tensor(), name);
  }
}

TEST(Device, NvccTakesAllKernelsAndSpillsNothing) {
  if (std::system("nvcc --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "nvcc is not in PATH";
  const std::vector<ir::IRModule> lowered = all_cuda_kernels();
  const TestFolder folder;
  std::ofstream(folder / "f.cu") << emit_cuda(lowered);
  for (const char* arch : {"sm_75", "sm_80", "sm_90a"}) {
    const std::string report =
        output_of(fmt::format("nvcc -cubin -arch={} -Xptxas -v -Werror all-warnings -o {} {}", arch,
                              (folder / "f.cubin").string(), (folder / "f.cu").string()));
    size_t count = 0;
    for (size_t at = 0;
         (at = report.find("0 bytes spill stores, 0 bytes spill loads", at + 1)) != report.npos;)
      ++count;
    EXPECT_EQ(count, lowered.size()) << report;
  }
}

// The folder of the sources, which the build is in.
std::filesystem::path source_folder() {
  std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  while (!std::filesystem::exists(folder / "STYLE.md") && folder.has_relative_path())
    folder = folder.parent_path();
  return folder;
}

// What clang says about a text in Metal: its C++ for OpenCL has the same address spaces under other names.
std::string metal_errors(const std::string& text) {
  const TestFolder folder;
  std::ofstream(folder / "f.metal") << text;
  return output_of(
      fmt::format("clang++-19 -x clcpp -cl-std=CLC++2021 -target spir64 -Xclang -finclude-default-header "
                  "-fsyntax-only -Wno-unknown-attributes -Werror -I {} {}",
                  (source_folder() / "tests/codegen/metal_shim").string(), (folder / "f.metal").string()));
}

TEST(Device, MetalIsWellFormed) {
  if (std::system("clang++-19 --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "clang++-19 is not in PATH";
  std::vector<ir::IRModule> lowered = all_cuda_kernels();
  std::erase_if(lowered, [](const ir::IRModule& module) {
    const std::string& name = module->global_vars.back()->name_hint;
    return name == "all_axes" || name == "half_arithmetic" ||
           name.starts_with("vectors_float64");  // have float64
  });
  EXPECT_EQ(lowered.size(), all_cuda_kernels().size() - 3);
  std::string text = emit_metal(lowered);
  EXPECT_EQ(metal_errors(text), "") << text;
  const std::string_view pointer = "(device const packed_float4*)";
  text.replace(text.find(pointer), pointer.size(), "(threadgroup const packed_float4*)");
  EXPECT_THAT(metal_errors(text), testing::HasSubstr("address space"));
}

// The program of docs/device-code.md, and its text in each language, stand there.
TEST(Device, ThePageShowsTheTexts) {
  std::stringstream stream;
  stream << std::ifstream(source_folder() / "docs/device-code.md").rdbuf();
  const std::string page = stream.str();
  const size_t begin = page.find("@T.prim_func"), end = page.find("\"\"\"", begin);
  const ir::IRModule lowered[] = {lowered_kernel(page.substr(begin, end - begin), "window_sum")};
  for (const auto& [language, name] : {std::pair{DeviceLanguage::kCuda, "cuda"},
                                       {DeviceLanguage::kOpenCL, "c"},
                                       {DeviceLanguage::kMetal, "metal"}})
    EXPECT_THAT(page,
                testing::HasSubstr(fmt::format("```{}\n{}```\n", name, emit_device(language, lowered))));
}

std::string refusal(DeviceLanguage language, std::string_view program) {
  try {
    return "no error: " + text_of(language, program);
  } catch (const Error& error) {
    return error.text() + (error.help_text().empty() ? "" : "; help: " + error.help_text());
  }
}

TEST(Device, FunctionsOfLibdeviceAreDeclared) {
  const std::string text = text_of(DeviceLanguage::kCuda, R"(
@T.prim_func
def f(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float64")):
    T.func_attr({"tir.noalias": True})
    for tx in T.thread_binding(32, thread="threadIdx.x"):
        A[tx] = T.call_pure_extern("float32", "__nv_expf", A[tx]) + T.call_pure_extern("float32", "__nv_expf", A[tx] * A[tx])
        B[tx] = T.call_pure_extern("float64", "__nv_ldexp", B[tx], tx)
)");
  EXPECT_THAT(text, testing::StartsWith(R"(// Made by tilewright.
extern "C" __device__ float __nv_expf(float);
extern "C" __device__ double __nv_ldexp(double, int);

// f: 1 block of 32 threads
)"));
  if (std::system("nvcc --version > /dev/null 2>&1") != 0) return;
  const TestFolder folder;
  std::ofstream(folder / "f.cu") << text;
  EXPECT_EQ(output_of(fmt::format("nvcc -cubin -arch=sm_80 -Werror all-warnings -o {} {}",
                                  (folder / "f.cubin").string(), (folder / "f.cu").string())),
            "");
}

TEST(Device, FunctionsOfLibdeviceHaveFourDtypes) {
  EXPECT_EQ(
      refusal(DeviceLanguage::kCuda,
              "@T.prim_func\ndef f(A: T.Buffer((32,), \"float16\")):\n"
              "    for tx in T.thread_binding(32, thread=\"threadIdx.x\"):\n"
              "        A[tx] = T.call_pure_extern(\"float16\", \"__nv_expf\", A[tx])\n"),
      "__nv_expf: dtype float16 is none of a function of libdevice; help: cast to float32, float64, int32 or "
      "int64");
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
    f_kernel(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C) {
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
void f_kernel(__global const float* restrict A, __global const float* restrict B,
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

TEST(Device, AxesThatLoweringNamedHaveShortNames) {
  const tir::Buffer A = tir::make_buffer("A", {tir::imm(64)}, kFloat32);
  const Var block = tir::make_var("blockIdx.x"), thread = tir::make_var("threadIdx_x");
  const auto axis = [](const Var& var, const char* tag, int64_t extent, Stmt body) {
    return ForNode::make(tir::imm(0), tir::imm(extent), var, ForKind::kThreadBinding, tag, ir::AttrMap(),
                         std::move(body));
  };
  const Stmt store = tir::store(A, tir::float_imm(1), {block * 16 + thread});
  const PrimFunc func =
      ir::with(script::parse_func("@T.prim_func\ndef f(A: T.Buffer((64,), \"float32\")):\n    pass"),
               [&](PrimFuncNode& node) {
                 node.params = {A->data};
                 node.buffers = {nullptr};
                 node.body = axis(block, "blockIdx.x", 4, axis(thread, "threadIdx.x", 16, store));
                 node.attrs.set("lowered_kind", tir::string_imm("device_kernel"));
               });
  const ir::IRModule lowered[] = {ir::with_function(ir::IRModule(new ir::IRModuleNode), "f", func)};
  EXPECT_THAT(emit_cuda(lowered), testing::HasSubstr(R"(
  const int bx = blockIdx.x;
  const int tx = threadIdx.x;
  A[bx * 16 + tx] = 1.0f;
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

// Entries check where the data of arguments begins: kernels need not.
TEST(Device, VectorsAreOneAccess) {
  EXPECT_THAT(text_of(DeviceLanguage::kCuda, R"(
    @T.prim_func
    def f(A: T.Buffer((64,), "float32", align=4), B: T.Buffer((64,), "float32", align=4)):
        for tx in T.thread_binding(16, thread="threadIdx.x"):
            B[T.Ramp(tx * 4, 1, 4)] = A[T.Ramp(tx * 4, 1, 4)]
  )"),
              testing::HasSubstr("  *(float4*)&B[tx * 4] = *(const float4*)&A[tx * 4];\n"));
}

TEST(Device, OneElementOfAThreadIsAVariable) {
  EXPECT_THAT(text_of(DeviceLanguage::kCuda, R"(
    @T.prim_func
    def f(A: T.Buffer((64,), "float32"), B: T.Buffer((16,), "float32"), C: T.Buffer((16,), "float32")):
        for tx in T.thread_binding(16, thread="threadIdx.x"):
            S = T.alloc_buffer((1,), "float32", scope="local")
            S[0] = T.float32(0)
            for k in range(4):
                S[0] = S[0] + A[tx * 4 + k]
            B[tx] = S[0]
            P = T.alloc_buffer((1,), "float32", scope="local")
            if S[0] < T.float32(3):
                P[0] = S[0]
            C[tx] = P[0]
  )"),
              testing::HasSubstr(R"(
  float S = 0.0f;
  for (int k = 0; k < 4; ++k) {
    S += A[tx * 4 + k];
  }
  B[tx] = S;
  float P;
  if (S < 3.0f) {
    P = S;
  }
  C[tx] = P;
)"));
  // a pointer to it is taken
  EXPECT_THAT(text_of(DeviceLanguage::kCuda, R"(
    @T.prim_func
    def f(A: T.Buffer((16,), "float32")):
        for tx in T.thread_binding(16, thread="threadIdx.x"):
            S = T.alloc_buffer((1,), "float32", scope="local")
            S[0] = T.float32(0)
            T.evaluate(T.call_extern("int32", "fill", T.address_of(S[0])))
            A[tx] = S[0]
  )"),
              testing::HasSubstr("  float S[1];\n  S[0] = 0.0f;\n  fill(&S[0]);\n"));
}

TEST(Device, LoopsOfFusedLoopsHaveShortNames) {
  EXPECT_THAT(text_of(DeviceLanguage::kCuda, R"(
    @T.prim_func
    def f(A: T.Buffer((64,), "float32")):
        for tx in T.thread_binding(4, thread="threadIdx.x"):
            for ax0_ax1_fused_0 in range(4):
                for i_j_fused_1 in range(4):
                    A[tx * 16 + ax0_ax1_fused_0 * 4 + i_j_fused_1] = T.float32(1)
  )"),
              testing::HasSubstr(R"(
  for (int i = 0; i < 4; ++i) {
    for (int i_1 = 0; i_1 < 4; ++i_1) {
      A[tx * 16 + i * 4 + i_1] = 1.0f;
)"));
}

// An index whose parts have names is a multiple of 4 if they are.
TEST(Device, NamesInIndicesAreSeenThrough) {
  EXPECT_THAT(text_of(DeviceLanguage::kCuda, R"(
    @T.prim_func
    def f(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        for tx in T.thread_binding(16, thread="threadIdx.x"):
            first: T.int32 = tx % 16 * 4
            B[T.Ramp(first, 1, 4)] = A[T.Ramp(60 - first, 1, 4)]
  )"),
              testing::HasSubstr("  *(float4*)&B[first] = *(const float4*)&A[60 - first];\n"));
}

TEST(Device, WiderIndicesAreSeenThrough) {
  EXPECT_THAT(text_of(DeviceLanguage::kCuda, R"(
    @T.prim_func
    def f(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        for tx in T.thread_binding(16, thread="threadIdx.x"):
            B[T.Ramp(T.Cast("int64", tx * 4), 1, 4)] = A[T.Ramp(T.int64(60) - T.Cast("int64", tx) * T.int64(4), 1, 4)]
  )"),
              testing::HasSubstr(
                  "  *(float4*)&B[(long long)(tx * 4)] = *(const float4*)&A[60 - (long long)tx * 4];\n"));
}

TEST(Device, MasksOfLanesAreWrittenInHex) {
  EXPECT_THAT(text_of(DeviceLanguage::kCuda, R"(
    @T.prim_func
    def f(A: T.Buffer((32,), "float32")):
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            A[tx] = T.tvm_warp_shuffle_xor(T.uint32(4294967295), A[tx], 16, 32, 32)
  )"),
              testing::HasSubstr("  A[tx] = __shfl_xor_sync(0xffffffffU, A[tx], 16);\n"));
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
  EXPECT_EQ(kernels[0].name, "f_kernel");
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

TEST(Device, DynamicSharedMemory) {
  std::string program(kReversed.text);
  program.replace(program.find("\"shared\""), 8, "\"shared.dyn\"");
  EXPECT_THAT(text_of(DeviceLanguage::kCuda, program), testing::HasSubstr(R"(
  extern __shared__ __align__(16) unsigned char tw_dynamic_shared[];  // 7 elements
  float* S = (float*)tw_dynamic_shared;
)"));
  EXPECT_THAT(text_of(DeviceLanguage::kOpenCL, program),
              testing::HasSubstr("\n  __local float S[7] __attribute__((aligned(16)));\n"));
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
  unsigned mask = __activemask();
  S[0] = A[tx];
  S[1] = __shfl_down_sync(mask, S[0], 16);
  S[0] = __shfl_sync(mask, S[0] + S[1], 0);
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
  EXPECT_EQ(refusal(DeviceLanguage::kCuda, body("A[tx] = T.call_extern(\"float32\", \"a b\", A[tx])")),
            "call_extern: the function must be a string literal that is a name");
  const auto memory = [&](std::string_view buffer) {
    return body(fmt::format("S = T.alloc_buffer({})\n            S[0] = A[tx]", buffer));
  };
  EXPECT_EQ(refusal(DeviceLanguage::kCuda, memory("(n,), scope=\"local\"")),
            "buffer S in scope local has no constant size; help: split loops so that a thread needs a "
            "constant part "
            "of it");
  EXPECT_EQ(refusal(DeviceLanguage::kCuda, memory("(n,), scope=\"shared\"")),
            "buffer S in scope shared has no constant size; help: split loops so that a block needs a "
            "constant part "
            "of it");
  EXPECT_EQ(
      refusal(DeviceLanguage::kCuda, memory("(4,)")),
      "buffer S is in scope global, but kernels have memory in scopes shared and local; help: give set_scope "
      "or cache_read another scope");
  EXPECT_EQ(refusal(DeviceLanguage::kMetal, body("v: T.float32x8 = T.Broadcast(A[tx], 8)\n"
                                                 "            A[T.Ramp(0, 1, 8)] = v")),
            "Metal has no vectors of dtype float32x8");
  EXPECT_EQ(refusal(DeviceLanguage::kCuda, body("A.vstore([T.Ramp(0, 1, 2)], T.Broadcast(T.float32(1), 2), "
                                                "predicate=T.Broadcast(n > tx, 2))")),
            "CUDA C has no stores of some lanes");
  EXPECT_EQ(
      refusal(DeviceLanguage::kCuda,
              body("A[T.Ramp(0, 1, 2)] = A.vload([T.Ramp(0, 1, 2)], predicate=T.Broadcast(n > tx, 2))")),
      "CUDA C has no loads of some lanes");
}

}  // namespace
}  // namespace tilewright::codegen
