#include "tilewright/codegen/llvm/sum_loops.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

namespace tilewright::codegen {
namespace {

// The scalar that all lanes of a vector hold; if they are one lane of another vector, the shuffle that
// selects it.
llvm::Value* number_of(llvm::Value* vector) {
  if (llvm::Value* number = llvm::getSplatValue(vector)) return number;
  auto* chosen = llvm::dyn_cast<llvm::ShuffleVectorInst>(vector);
  return chosen && llvm::all_equal(chosen->getShuffleMask()) ? chosen : nullptr;
}

std::optional<Product> product_of(llvm::Instruction& instruction, uint64_t least_bits, uint64_t most_bits) {
  auto* add = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(instruction.getType());
  if (!add || !type || add->getIntrinsicID() != llvm::Intrinsic::fmuladd) return std::nullopt;
  const uint64_t bits = type->getPrimitiveSizeInBits().getFixedValue();
  if (bits <= least_bits || bits > most_bits) return std::nullopt;
  for (unsigned side = 0; side < 2; ++side) {
    if (llvm::Value* number = number_of(add->getArgOperand(side)))
      return Product{add, add->getArgOperand(2), add->getArgOperand(1 - side), number};
  }
  return std::nullopt;
}

bool may_write(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return instruction.mayWriteToMemory() && !(call && call->getIntrinsicID() == llvm::Intrinsic::prefetch);
}

}  // namespace

std::vector<Product> products_in(llvm::BasicBlock& block, uint64_t least_bits, uint64_t most_bits) {
  std::vector<Product> products;
  for (llvm::Instruction& instruction : block) {
    if (may_write(instruction)) return {};
    const std::optional<Product> product = product_of(instruction, least_bits, most_bits);
    if (!product) continue;
    if (!products.empty() && products[0].add->getType() != product->add->getType()) return {};
    products.push_back(*product);
  }
  return products;
}

size_t num_distinct(const std::vector<Product>& products, llvm::Value* Product::* member) {
  llvm::SmallPtrSet<llvm::Value*, 32> values;
  for (const Product& product : products) values.insert(product.*member);
  return values.size();
}

std::vector<llvm::Loop*> blocks_that_loop(const llvm::LoopInfo& loops) {
  std::vector<llvm::Loop*> found;
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (loop->isInnermost() && loop->getNumBlocks() == 1) found.push_back(loop);
  }
  return found;
}

namespace {

// True if the address moves by one element in each iteration of the loop.
bool is_next(llvm::Value* number, const llvm::Loop& loop, llvm::ScalarEvolution& scev) {
  auto* load = llvm::dyn_cast<llvm::LoadInst>(number);
  if (!load || !load->isSimple() || load->getParent() != loop.getHeader()) return false;
  const auto* address = llvm::dyn_cast<llvm::SCEVAddRecExpr>(scev.getSCEV(load->getPointerOperand()));
  if (!address || address->getLoop() != &loop || !address->isAffine()) return false;
  const auto* step = llvm::dyn_cast<llvm::SCEVConstant>(address->getStepRecurrence(scev));
  return step && step->getAPInt() == load->getType()->getPrimitiveSizeInBits().getFixedValue() / 8;
}

}  // namespace

bool take_next_numbers(const std::vector<Product>& products, const llvm::Loop& loop,
                       llvm::ScalarEvolution& scev) {
  return std::all_of(products.begin(), products.end(),
                     [&](const Product& product) { return is_next(product.number, loop, scev); });
}

void take_together(llvm::Loop* loop, unsigned steps, llvm::Function& function,
                   llvm::FunctionAnalysisManager& analyses) {
  if (!loop->isLoopSimplifyForm()) return;
  llvm::UnrollLoopOptions options{};
  options.Count = steps;
  options.Runtime = true;
  options.AllowExpensiveTripCount = true;
  llvm::UnrollLoop(loop, options, &analyses.getResult<llvm::LoopAnalysis>(function),
                   &analyses.getResult<llvm::ScalarEvolutionAnalysis>(function),
                   &analyses.getResult<llvm::DominatorTreeAnalysis>(function),
                   &analyses.getResult<llvm::AssumptionAnalysis>(function),
                   &analyses.getResult<llvm::TargetIRAnalysis>(function),
                   &analyses.getResult<llvm::OptimizationRemarkEmitterAnalysis>(function), true);
}

llvm::SmallVector<llvm::Value*> keep_order(llvm::Instruction* place, llvm::ArrayRef<llvm::Value*> values) {
  llvm::IRBuilder<> builder(place);
  llvm::SmallVector<llvm::Type*> types;
  std::string outputs, inputs;
  for (llvm::Value* value : values) {
    outputs += outputs.empty() ? "=w" : ",=w";
    inputs += "," + std::to_string(types.size());
    types.push_back(value->getType());
  }
  llvm::Type* result = types.empty()       ? builder.getVoidTy()
                       : types.size() == 1 ? types[0]
                                           : llvm::StructType::get(builder.getContext(), types);
  llvm::CallInst* passed = builder.CreateCall(
      llvm::InlineAsm::get(llvm::FunctionType::get(result, types, false), "", outputs + inputs, true),
      values);
  llvm::SmallVector<llvm::Value*> same;
  for (unsigned n = 0; n < values.size(); ++n)
    same.push_back(values.size() == 1 ? passed : builder.CreateExtractValue(passed, n));
  return same;
}

llvm::PreservedAnalyses StepsTogether::run(llvm::Function& function,
                                           llvm::FunctionAnalysisManager& analyses) {
  // with more sums and vectors (14 by 2), LLVM spilled sums
  constexpr size_t kMostRegisters = 29;
  constexpr unsigned kSteps = 8;
  const auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  auto& scev = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  bool is_changed = false;
  for (llvm::Loop* loop : blocks_that_loop(loops)) {
    const std::vector<Product> products = products_in(*loop->getHeader(), 0, UINT64_MAX);
    const unsigned count = scev.getSmallConstantTripCount(loop);
    const size_t vectors = num_distinct(products, &Product::vector),
                 rows = num_distinct(products, &Product::number);
    // each vector needs an address of its own per iteration: there is no gain if there are more vectors than
    // rows
    if (products.empty() || rows < vectors || products.size() + vectors > kMostRegisters ||
        (count != 0 && count < 2 * kSteps) || !take_next_numbers(products, *loop, scev))
      continue;
    take_together(loop, kSteps, function, analyses);
    is_changed = true;
  }
  return is_changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace tilewright::codegen
