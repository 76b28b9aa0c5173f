// Loops that add products of vectors and single numbers, in LLVM's IR: what passes of ours that run after
// LLVM's have in common.
#pragma once
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PassManager.h>

#include <vector>

namespace tilewright::codegen {

/// sum + vector * splat(number), rounded once.  The number may also be the vector of it, if its lanes are one
/// lane of another vector.
struct Product {
  llvm::BinaryOperator* add;
  llvm::Value *sum, *vector, *number;
};

/// Those of `block` with vectors of more than `least_bits` and at most `most_bits`, in their order: all of
/// one element type, of a block that writes to nothing but registers; else none.
std::vector<Product> products_in(llvm::BasicBlock& block, uint64_t least_bits, uint64_t most_bits);

/// How many values there are of one member.
size_t num_distinct(const std::vector<Product>& products, llvm::Value* Product::* member);

/// Loops of one block without loops inside, in order.
std::vector<llvm::Loop*> blocks_that_loop(const llvm::LoopInfo& loops);

/// Whether each step of the loop takes the next numbers in memory for its products.
bool take_next_numbers(const std::vector<Product>& products, const llvm::Loop& loop,
                       llvm::ScalarEvolution& scev);

/// Takes `steps` steps of the loop together; what is left over is a loop behind it.
void take_together(llvm::Loop* loop, unsigned steps, llvm::Function& function,
                   llvm::FunctionAnalysisManager& analyses);

/// No load of what follows `place` moves before it, nor back, and `values` are known there and not later;
/// what they are from there on is returned.  LLVM's scheduler would else load what several steps need at
/// once, and keep sums in memory.  An empty statement of assembly, no instruction.
llvm::SmallVector<llvm::Value*> keep_order(llvm::Instruction* place,
                                           llvm::ArrayRef<llvm::Value*> values = {});

/// Eight steps of sums together, on RVV: numbers of a row lie within reach of one address.
/// Of 13 by 2 vectors a step took 49 instructions, 26 of them multiply-adds: 8 add up addresses and count.
struct StepsTogether : llvm::PassInfoMixin<StepsTogether> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace tilewright::codegen
