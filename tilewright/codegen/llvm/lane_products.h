// Sums of products of vectors and scalars, on SVE registers.
#pragma once
#include <llvm/IR/PassManager.h>

namespace tilewright::codegen {

/// Innermost loops that add products of vectors and scalars which are consecutive in memory: the scalars of
/// several iterations are loaded together, and each multiply-add takes one lane.
/// register_bits  minimum width of SVE registers; more than 128
struct LaneProducts : llvm::PassInfoMixin<LaneProducts> {
  int64_t register_bits;
  explicit LaneProducts(int64_t register_bits) : register_bits(register_bits) {}
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace tilewright::codegen
