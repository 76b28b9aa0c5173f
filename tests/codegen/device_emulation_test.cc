// Kernels in CUDA C on the emulation: they compute what the interpreter computes in three orders of threads; without
// one of the barriers, they do not in one of them.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel_testing.h"

namespace tilewright::codegen {
namespace {

constexpr const char* kOrders[] = {"forward", "backward", "shuffled"};

// A text as a library, made by the stand-in of nvcc.
class Emulated {
 public:
  explicit Emulated(const std::string& text) {
    const auto nvcc = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() /
                      "lib/cuda_emulation/nvcc";
    std::ofstream(folder_ / "f.cu") << text;
    messages = output_of(fmt::format("{} -cubin -arch=sm_90a -o {} {}", nvcc.string(),
                                     (folder_ / "f.cubin").string(), (folder_ / "f.cu").string()));
    library_ = dlopen((folder_ / "f.cubin").c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  ~Emulated() {
    if (library_) dlclose(library_);
  }

  /// The status of a launch: 0 if it is right.
  int launch(const std::string& kernel, const tir::PrimFunc& func, const int64_t* block,
             const std::vector<Value>& args) const {
    using Launch = int (*)(const unsigned*, const unsigned*, unsigned, void**);
    const auto function =
        reinterpret_cast<Launch>(dlsym(library_, ("tilewright_emulated_" + kernel).c_str()));
    const auto* sizes =
        static_cast<const int*>(dlsym(library_, ("tilewright_emulated_sizes_" + kernel).c_str()));
    const std::array<size_t, 3> extents = grid_of(func);
    unsigned grid[3], threads[3];
    for (size_t n = 0; n < 3; ++n) {
      grid[n] = static_cast<unsigned>(extents[n]);
      threads[n] = static_cast<unsigned>(block[n]);
    }
    std::vector<std::array<char, 8>> values(args.size());
    std::vector<void*> places;
    for (size_t n = 0; n < args.size(); ++n) {
      const auto put = [&](auto value) { std::memcpy(values[n].data(), &value, sizeof value); };
      if (func->buffers[n])
        put(args[n].as_tensor().data_as<char>());
      else if (func->params[n]->dtype.is_float())
        put(2.5f);
      else
        put(int64_t{3});
      EXPECT_EQ(sizes[n], func->buffers[n] ? 8 : func->params[n]->dtype.num_bytes());
      places.push_back(values[n].data());
    }
    EXPECT_EQ(sizes[args.size()], 0);
    return function(grid, threads, 0, places.data());
  }

  std::string messages;

 private:
  TestFolder folder_;
  void* library_ = nullptr;
};

tir::PrimFunc function_of(const KernelText& kernel, const ir::IRModule& module) {
  return ir::ref_as<tir::PrimFuncNode>(module->lookup(kernel.function));
}

TEST(DeviceEmulation, ComputesWhatTheInterpreterComputes) {
  const std::vector<ir::IRModule> lowered = all_kernels();
  const std::vector<KernelText> kernels = kernel_texts(DeviceLanguage::kCuda, lowered);
  const Emulated emulated(emit_cuda(lowered));
  ASSERT_EQ(emulated.messages, "");
  for (size_t k = 0; k < kernels.size(); ++k) {
    const tir::PrimFunc func = function_of(kernels[k], lowered[k]);
    const std::vector<Value> expected = kernel_args(func);
    analysis::interpret(func, expected, {});
    for (const char* order : kOrders) {
      setenv("TILEWRIGHT_EMULATION_ORDER", order, 1);
      const std::vector<Value> actual = kernel_args(func);
      ASSERT_EQ(emulated.launch(kernels[k].name, func, kernels[k].block, actual), 0);
      for (size_t n = 0; n < actual.size(); ++n) {
        if (func->buffers[n])
          expect_close(actual[n].as_tensor(), expected[n].as_tensor(),
                       fmt::format("{}, {}: {}", kernels[k].function, order, func->buffers[n]->name));
      }
    }
  }
  unsetenv("TILEWRIGHT_EMULATION_ORDER");
}

bool are_close(const Tensor& a, const Tensor& b) {
  for (int64_t n = 0; n < a.num_elements(); ++n) {
    const double x = element_of(a, n), y = element_of(b, n);
    if (std::isnan(x) != std::isnan(y) || std::abs(x - y) > 1e-5) return false;
  }
  return true;
}

TEST(DeviceEmulation, EachBarrierIsMissedInOneOfTheOrders) {
  std::vector<ir::IRModule> lowered;
  std::vector<tir::PrimFunc> whole;
  for (const KernelProgram& program : {kReversed, kTransposed, kBlockSum, kMatmul, kVectors, kHalfVectors}) {
    int barriers = 0;
    for (size_t at = 0; (at = program.text.find("T.tvm_storage_sync", at + 1)) != program.text.npos;)
      ++barriers;
    for (int n = 0; n < barriers; ++n) {
      lowered.push_back(
          lowered_kernel(without_barrier(program.text, n), fmt::format("{}_{}", program.name, n)));
      whole.push_back(script::parse_func_unchecked(program.text));
    }
  }
  const std::vector<KernelText> kernels = kernel_texts(DeviceLanguage::kCuda, lowered);
  const Emulated emulated(emit_cuda(lowered));
  ASSERT_EQ(emulated.messages, "");
  for (size_t k = 0; k < kernels.size(); ++k) {
    const std::vector<Value> expected = kernel_args(whole[k]);
    analysis::interpret(whole[k], expected, {});
    int wrong = 0;
    for (const char* order : kOrders) {
      setenv("TILEWRIGHT_EMULATION_ORDER", order, 1);
      const std::vector<Value> actual = kernel_args(whole[k]);
      bool is_right = emulated.launch(kernels[k].name, whole[k], kernels[k].block, actual) == 0;
      for (size_t n = 0; n < actual.size() && is_right; ++n)
        is_right = are_close(actual[n].as_tensor(), expected[n].as_tensor());
      wrong += !is_right;
    }
    EXPECT_GT(wrong, 0) << kernels[k].name;
  }
  unsetenv("TILEWRIGHT_EMULATION_ORDER");
}

}  // namespace
}  // namespace tilewright::codegen
