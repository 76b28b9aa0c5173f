// Helpers for our passes that run after LLVM's, on loops of LLVM IR that add products of vectors and scalars.
#pragma once
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PassManager.h>

#include <cstddef>
#include <vector>

namespace tilewright::codegen {

/// sum + vector * splat(number), rounded once.  The splat may also be a shuffle that repeats one lane of
/// another vector.
struct Product {
  llvm::IntrinsicInst* add;
  llvm::Value *sum, *vector, *number;
};

/// The products in `block` with vectors of more than `least_bits` and at most `most_bits`, in order, all of
/// one element type; none if the block writes to memory or has other element types.
std::vector<Product> products_in(llvm::BasicBlock& block, uint64_t least_bits, uint64_t most_bits);

/// The number of distinct values of one member.
size_t num_distinct(const std::vector<Product>& products, llvm::Value* Product::* member);

/// Loops of a single block without inner loops, in order.
std::vector<llvm::Loop*> blocks_that_loop(const llvm::LoopInfo& loops);

/// True if each iteration of the loop takes the next scalars in memory for its products.
bool take_next_numbers(const std::vector<Product>& products, const llvm::Loop& loop,
                       llvm::ScalarEvolution& scev);

/// Unrolls the loop by `steps`; the remaining iterations become a loop after it.
void take_together(llvm::Loop* loop, unsigned steps, llvm::Function& function,
                   llvm::FunctionAnalysisManager& analyses);

/// Prevents loads from moving across `place` in either direction, and makes `values` opaque at that point;
/// returns the opaque values.  Otherwise LLVM's scheduler would load the operands of several iterations at
/// once and spill sums.  An empty inline assembly statement, which emits no instruction.
llvm::SmallVector<llvm::Value*> keep_order(llvm::Instruction* place,
                                           llvm::ArrayRef<llvm::Value*> values = {});

/// Unrolls loops of sums by eight on RVV, where the values of a row are then in reach of one address.  With
/// 13 by 2 vectors an iteration took 49 instructions, 26 of them multiply-adds: 8 add up addresses and count.
struct StepsTogether : llvm::PassInfoMixin<StepsTogether> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace tilewright::codegen
