// Kernels from text in their lowered form, arguments for them, and OpenCL through its ICD loader.
#pragma once
#include <dlfcn.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "kernel_programs.h"
#include "script_testing.h"
#include "tilewright/analysis/interpreter.h"
#include "tilewright/codegen/device/device.h"
#include "tilewright/ir/module.h"
#include "tilewright/ir/walk.h"
#include "tilewright/support/small_float.h"

namespace tilewright::codegen {
using runtime::Tensor;
using runtime::Value;

/// The module of one kernel `<name>_kernel`: parameters are the data pointers of the program's buffers.
inline ir::IRModule lowered_kernel(std::string_view text, const std::string& name = "f") {
  const tir::PrimFunc func = script::parse_func_unchecked(text);
  auto changed = ir::with(func, [&](tir::PrimFuncNode& node) {
    for (size_t n = 0; n < node.params.size(); ++n) {
      if (node.buffers[n]) node.params[n] = node.buffers[n]->data;
    }
    for (auto& buffer : node.buffers) buffer = nullptr;
    node.attrs.set("lowered_kind", tir::string_imm("device_kernel"));
  });
  ir::IRModule module = ir::with_function(ir::IRModule(new ir::IRModuleNode), name + "_kernel", changed);
  return ir::with_function(module, name, func);  // the function of the user stands last
}

/// Vectors of each dtype and each number of lanes up to 16 bytes, copied through shared memory and added; two of
/// the buffers are aligned to nothing.
inline std::vector<std::pair<std::string, std::string>> vector_programs() {
  std::vector<std::pair<std::string, std::string>> programs;
  for (const char* name : {"bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
                           "float16", "bfloat16", "float8_e4m3fn", "float32", "float64"}) {
    const DataType dtype = DataType::parse(name);
    for (int lanes = 2; lanes * dtype.num_bytes() <= 16; lanes *= 2) {
      const bool has_arithmetic = dtype.is_integral() || dtype.bits >= 32;
      programs.emplace_back(
          fmt::format("vectors_{}x{}", name, lanes),
          fmt::format(R"(
@T.prim_func
def f(A: T.Buffer(({1},), "{0}"), B: T.Buffer(({1},), "{0}", align=1), C: T.Buffer(({1},), "{0}"), D: T.Buffer(({1},), "{0}", align=1)):
    S = T.alloc_buffer(({1},), "{0}", scope="shared")
    for tx in T.thread_binding(7, thread="threadIdx.x"):
        S[T.Ramp(tx * {2}, 1, {2})] = A[T.Ramp(tx * {2}, 1, {2})]
        T.tvm_storage_sync("shared")
        C[T.Ramp(tx * {2}, 1, {2})] = S[T.Ramp((6 - tx) * {2}, 1, {2})]
        D[T.Ramp(tx * {2}, 1, {2})] = S[T.Ramp((6 - tx) * {2}, 1, {2})]{3}
)",
                      name, 7 * lanes, lanes,
                      has_arithmetic ? fmt::format(" + B[T.Ramp(tx * {0}, 1, {0})]", lanes) : ""));
    }
  }
  return programs;
}

/// The module of each of kKernelPrograms, under its name.
inline std::vector<ir::IRModule> all_kernels() {
  std::vector<ir::IRModule> modules;
  for (const KernelProgram& program : kKernelPrograms)
    modules.push_back(lowered_kernel(program.text, std::string(program.name)));
  return modules;
}

/// These, those that OpenCL does not have, and vectors of all dtypes.
inline std::vector<ir::IRModule> all_cuda_kernels() {
  std::vector<ir::IRModule> modules = all_kernels();
  modules.push_back(lowered_kernel(kHalfArithmetic.text, std::string(kHalfArithmetic.name)));
  for (const auto& [name, text] : vector_programs()) modules.push_back(lowered_kernel(text, name));
  return modules;
}

/// A program without its barrier number `n`.
inline std::string without_barrier(std::string_view program, int n) {
  std::string text(program);
  size_t at = text.find("T.tvm_storage_sync");
  for (; n > 0; --n) at = text.find("T.tvm_storage_sync", at + 1);
  return text.replace(at, text.find('\n', at) - at, "T.evaluate(0)");
}

/// What a command prints, and its status as a last line if it is not 0.
inline std::string output_of(const std::string& command) {
  std::string text;
  FILE* output = popen((command + " 2>&1").c_str(), "r");
  for (int c; (c = fgetc(output)) != EOF;) text += static_cast<char>(c);
  const int status = pclose(output);
  return status == 0 ? text : text + "status " + std::to_string(status) + "\n";
}

/// A folder that is removed at the end.
class TestFolder {
 public:
  TestFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tilewright-device-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline Tensor random_tensor(const tir::Buffer& buffer, unsigned seed, bool has_nan = true) {
  const std::vector<int64_t> shape{buffer->shape[0].as<ir::IntImmNode>()->value};
  Tensor tensor = Tensor::empty(shape, buffer->dtype);
  const DataType dtype = buffer->dtype;
  for (int64_t n = 0; n < tensor.num_elements(); ++n) {
    seed = seed * 1664525u + 1013904223u;
    const int digit = static_cast<int>(seed >> 16) % 9 - 4, whole = digit == 0 ? 5 : digit;  // a divisor
    const double real = (static_cast<int>(seed >> 12) % 6000 - 3000) * 0.001;
    char* place = tensor.data_as<char>() + n * dtype.num_bytes();
    const auto put = [&](auto value) { std::memcpy(place, &value, sizeof value); };
    if (dtype == kFloat32) put(n == 5 && has_nan ? NAN : static_cast<float>(real));
    if (dtype == DataType::float_(64)) put(real);
    if (dtype == kInt32) put(int32_t{whole});
    if (dtype == kInt64) put(int64_t{whole});
    if (dtype.bits == 16 && dtype.is_integral()) put(static_cast<uint16_t>(whole));
    if (dtype.bits == 32 && dtype.is_uint()) put(static_cast<uint32_t>(whole));
    if (dtype.bits == 64 && dtype.is_uint()) put(static_cast<uint64_t>(whole));
    if (dtype.bits == 16 && dtype.is_float())
      put(static_cast<uint16_t>(encode_float(real, float_format(dtype))));
    if (dtype.bits == 8)
      put(static_cast<uint8_t>(dtype.is_bool()    ? seed >> 31
                               : dtype.is_float() ? encode_float(real, float_format(dtype))
                                                  : static_cast<unsigned>(whole)));
  }
  return tensor;
}

inline std::vector<Value> kernel_args(const tir::PrimFunc& func, bool has_nan = true) {
  std::vector<Value> args;
  for (size_t n = 0; n < func->params.size(); ++n) {
    if (func->buffers[n])
      args.emplace_back(random_tensor(func->buffers[n], static_cast<unsigned>(n) + 7, has_nan));
    else if (func->params[n]->dtype.is_float())
      args.emplace_back(2.5);
    else
      args.emplace_back(int64_t{3});
  }
  return args;
}

inline double element_of(const Tensor& tensor, int64_t n) {
  const DataType dtype = tensor.dtype();
  const char* place = tensor.data_as<char>() + n * dtype.num_bytes();
  const auto get = [&](auto value) { return std::memcpy(&value, place, sizeof value), value; };
  if (dtype == kFloat32) return get(float{});
  if (dtype == DataType::float_(64)) return get(double{});
  if (dtype == kInt32) return get(int32_t{});
  if (dtype.bits == 64) return static_cast<double>(get(int64_t{}));
  if (dtype.bits == 32) return get(uint32_t{});
  if (dtype.bits == 16 && !dtype.is_float()) return get(uint16_t{});
  if (is_small_float(dtype))
    return decode_float(dtype.bits == 16 ? get(uint16_t{}) : get(uint8_t{}), float_format(dtype));
  return get(uint8_t{});
}

inline void expect_close(const Tensor& actual, const Tensor& expected, const std::string& what) {
  for (int64_t n = 0; n < expected.num_elements(); ++n) {
    const double a = element_of(actual, n), b = element_of(expected, n);
    if (std::isnan(a) && std::isnan(b)) continue;
    const double tolerance = expected.dtype().is_float() ? 1e-5 * std::max(std::abs(b), 1.0) : 0;
    ASSERT_TRUE(a == b || std::abs(a - b) <= tolerance)
        << what << "[" << n << "] is " << a << ", expected " << b;
  }
}

/// The extents of the grid, whose only variable may be the parameter n = 3.
inline std::array<size_t, 3> grid_of(const tir::PrimFunc& func) {
  std::array<size_t, 3> grid = {1, 1, 1};
  walk(func->body, [&](const tir::ForNode* loop) {
    if (!loop->thread_tag.starts_with("blockIdx")) return;
    int64_t extent = 3;
    tir::as_const_int(loop->extent, &extent);
    grid[static_cast<size_t>(loop->thread_tag.back() - 'x')] = static_cast<size_t>(extent);
  });
  return grid;
}

/// Runs a kernel of OpenCL C on the first device that the ICD loader finds.
class OpenCL {
 public:
  /// Null if there is no loader or no device.
  static OpenCL* find() {
    static OpenCL instance;
    return instance.device_ ? &instance : nullptr;
  }

  /// The compiler's messages; empty if the text has neither errors nor warnings.
  std::string build(const std::string& text, const char* options = "") {
    const char* source = text.c_str();
    int status = 0;
    if (program_) call<int>("clReleaseProgram", program_);
    program_ = call<void*>("clCreateProgramWithSource", context_, 1u, &source, nullptr, &status);
    status = call<int>("clBuildProgram", program_, 1u, &device_, options, nullptr, nullptr);
    std::vector<char> log(16384);
    call<int>("clGetProgramBuildInfo", program_, device_, 0x1183u, log.size(), log.data(), nullptr);
    return status == 0 ? "" : "status " + std::to_string(status) + ": " + log.data() + "\n" + text;
  }

  /// Calls kernel `name` of the program; tensors are read and written.
  void run(const std::string& name, const std::array<size_t, 3>& grid, const int64_t* block,
           const tir::PrimFunc& func, const std::vector<Value>& args) {
    int status = 0;
    void* kernel = call<void*>("clCreateKernel", program_, name.c_str(), &status);
    ASSERT_EQ(status, 0);
    std::vector<std::pair<void*, Tensor>> buffers;
    for (unsigned n = 0; n < args.size(); ++n) {
      const DataType dtype = func->params[n]->dtype;
      if (func->buffers[n]) {
        const Tensor tensor = args[n].as_tensor();
        void* memory = call<void*>("clCreateBuffer", context_, uint64_t{1 | 32}, tensor.num_bytes(),
                                   tensor.data_as<char>(), &status);
        ASSERT_EQ(status, 0);
        buffers.emplace_back(memory, tensor);
        status = call<int>("clSetKernelArg", kernel, n, sizeof memory, &memory);
      } else if (dtype.is_float()) {
        const float value = 2.5f;
        status = call<int>("clSetKernelArg", kernel, n, sizeof value, &value);
      } else {
        const int64_t value = 3;
        status = call<int>("clSetKernelArg", kernel, n, static_cast<size_t>(dtype.num_bytes()), &value);
      }
      ASSERT_EQ(status, 0);
    }
    size_t global[3], local[3];
    for (size_t n = 0; n < 3; ++n) local[n] = static_cast<size_t>(block[n]), global[n] = local[n] * grid[n];
    ASSERT_EQ(
        call<int>("clEnqueueNDRangeKernel", queue_, kernel, 3u, nullptr, global, local, 0u, nullptr, nullptr),
        0);
    for (auto& [memory, tensor] : buffers) {
      ASSERT_EQ(call<int>("clEnqueueReadBuffer", queue_, memory, 1u, size_t{0}, tensor.num_bytes(),
                          tensor.data_as<char>(), 0u, nullptr, nullptr),
                0);
      call<int>("clReleaseMemObject", memory);
    }
    call<int>("clReleaseKernel", kernel);
  }

 private:
  OpenCL() : library_(dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL)) {
    if (!library_) return;
    void* platform = nullptr;
    unsigned count = 0;
    if (call<int>("clGetPlatformIDs", 1u, &platform, &count) != 0 || count == 0) return;
    if (call<int>("clGetDeviceIDs", platform, uint64_t{0xffffffff}, 1u, &device_, &count) != 0) {
      device_ = nullptr;
      return;
    }
    int status = 0;
    context_ = call<void*>("clCreateContext", nullptr, 1u, &device_, nullptr, nullptr, &status);
    queue_ = call<void*>("clCreateCommandQueue", context_, device_, uint64_t{0}, &status);
  }
  template <class Result, class... Args>
  Result call(const char* name, Args... args) {
    return reinterpret_cast<Result (*)(Args...)>(dlsym(library_, name))(args...);
  }

  void* library_;
  void *device_ = nullptr, *context_ = nullptr, *queue_ = nullptr, *program_ = nullptr;
};

}  // namespace tilewright::codegen
