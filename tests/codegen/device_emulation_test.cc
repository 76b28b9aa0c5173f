// Kernels in CUDA C on the emulation: they compute what the interpreter computes in three orders of threads; without
// one of the barriers, they do not in one of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emulation_testing.h"

namespace tilewright::codegen {
namespace {

constexpr const char* kOrders[] = {"forward", "backward", "shuffled"};

tir::PrimFunc function_of(const KernelText& kernel, const ir::IRModule& module) {
  return ir::ref_as<tir::PrimFuncNode>(module->lookup(kernel.function));
}

TEST(DeviceEmulation, ComputesWhatTheInterpreterComputes) {
  const std::vector<ir::IRModule> lowered = all_cuda_kernels();
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
