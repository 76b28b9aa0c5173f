// Sums of products of vectors and single numbers, on registers of SVE.
#pragma once
#include <llvm/IR/PassManager.h>

namespace tilewright::codegen {

/// Innermost loops that add products of vectors and numbers which lie one behind the other in memory: the
/// numbers of several steps are loaded together, and multiply-adds take one lane each.
/// register_bits  of SVE, at least; more than 128
struct LaneProducts : llvm::PassInfoMixin<LaneProducts> {
  int64_t register_bits;
  explicit LaneProducts(int64_t register_bits) : register_bits(register_bits) {}
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace tilewright::codegen
