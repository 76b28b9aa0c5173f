// On vectors of <8 x float> and registers of SVE of 256 bits:
//   for k:  sum[r][v] += splat(a[r][k]) * b[k][v]          ldr s; mov z.s, s; fmla z, p/m, z, z ...
// becomes, four steps together,
//   q = 4 numbers at a[r][k], in each 128 bits of a register                                ld1rqw z
//   sum[r][v] += q[n] * b[k + n][v], n < 4                                         fmla z.s, z.s, q.s[n]
// AArch64 multiplies by a lane of a register, not by a number in memory; of a register of SVE it is a lane of
// each 128 bits, and the register one of the first eight (z0 to z7; of 64-bit numbers sixteen).  Without this
// a number takes two instructions in each step, with it one in four.
// Source: Arm Architecture Reference Manual for A-profile, FMLA (indexed), LD1RQW.
#include "tilewright/codegen/llvm/lane_products.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

#include <optional>

#include "tilewright/codegen/llvm/lane_rewriter.h"

namespace tilewright::codegen {
namespace {

constexpr size_t kRegisters = 32;

// The number that all lanes of a vector are; if they are one lane of another vector, that choice.
llvm::Value* number_of(llvm::Value* vector) {
  if (llvm::Value* number = llvm::getSplatValue(vector)) return number;
  auto* chosen = llvm::dyn_cast<llvm::ShuffleVectorInst>(vector);
  return chosen && llvm::all_equal(chosen->getShuffleMask()) ? chosen : nullptr;
}

std::optional<Product> product_of(llvm::Instruction& instruction, uint64_t register_bits) {
  auto* add = llvm::dyn_cast<llvm::BinaryOperator>(&instruction);
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(instruction.getType());
  if (!add || !type || add->getOpcode() != llvm::Instruction::FAdd || !add->hasAllowContract())
    return std::nullopt;
  const uint64_t bits = type->getPrimitiveSizeInBits().getFixedValue();
  if (bits <= kSegmentBits || bits > register_bits) return std::nullopt;
  for (unsigned place = 0; place < 2; ++place) {
    auto* product = llvm::dyn_cast<llvm::BinaryOperator>(add->getOperand(place));
    if (!product || product->getOpcode() != llvm::Instruction::FMul || !product->hasOneUse() ||
        !product->hasAllowContract() || product->getParent() != add->getParent())
      continue;
    for (unsigned side = 0; side < 2; ++side) {
      if (llvm::Value* number = number_of(product->getOperand(side)))
        return Product{add, add->getOperand(1 - place), product->getOperand(1 - side), number};
    }
  }
  return std::nullopt;
}

bool may_write(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return instruction.mayWriteToMemory() && !(call && call->getIntrinsicID() == llvm::Intrinsic::prefetch);
}

// All of one element type, of a block that writes to nothing but registers; else none.
std::vector<Product> products_in(llvm::BasicBlock& block, uint64_t register_bits) {
  std::vector<Product> products;
  for (llvm::Instruction& instruction : block) {
    if (may_write(instruction)) return {};
    const std::optional<Product> product = product_of(instruction, register_bits);
    if (!product) continue;
    if (!products.empty() && products[0].add->getType() != product->add->getType()) return {};
    products.push_back(*product);
  }
  return products;
}

enum class Order { kNone, kByRows, kBySteps };

// How multiply-adds of `rows` registers with `lanes` numbers each may follow each other without a sum being
// kept in memory.  Row by row, the vectors of all steps stay in registers and the numbers of one row; step by
// step, the numbers of all rows stay, for which there are eight registers.  LLVM does not find a place for
// more than five beside sums in the others.
Order order_of(size_t sums, size_t vectors_of_steps, size_t rows, size_t lanes, bool may_go_by_rows) {
  constexpr size_t kOther = 2, kMostRows = 5, kMostLanes = 4;
  if (may_go_by_rows && sums + vectors_of_steps + kOther <= kRegisters) return Order::kByRows;
  const size_t vectors = (vectors_of_steps - 1) / lanes + 1;
  if (lanes <= kMostLanes && rows <= kMostRows && sums + vectors + rows + kOther <= kRegisters)
    return Order::kBySteps;
  return Order::kNone;
}

size_t num_distinct(const std::vector<Product>& products, llvm::Value* Product::* member) {
  llvm::SmallPtrSet<llvm::Value*, 32> values;
  for (const Product& product : products) values.insert(product.*member);
  return values.size();
}

// ---- several steps of a loop together

// Whether the loop moves the address by one element in each step.
bool is_next(llvm::Value* number, const llvm::Loop& loop, llvm::ScalarEvolution& scev) {
  auto* load = llvm::dyn_cast<llvm::LoadInst>(number);
  if (!load || !load->isSimple() || load->getParent() != loop.getHeader()) return false;
  const auto* address = llvm::dyn_cast<llvm::SCEVAddRecExpr>(scev.getSCEV(load->getPointerOperand()));
  if (!address || address->getLoop() != &loop || !address->isAffine()) return false;
  const auto* step = llvm::dyn_cast<llvm::SCEVConstant>(address->getStepRecurrence(scev));
  return step && step->getAPInt() == load->getType()->getPrimitiveSizeInBits().getFixedValue() / 8;
}

struct Analyses {
  llvm::LoopInfo& loops;
  llvm::ScalarEvolution& scev;
  llvm::DominatorTree& tree;
  llvm::AssumptionCache& assumptions;
  const llvm::TargetTransformInfo& costs;
  llvm::OptimizationRemarkEmitter& remarks;
};

// Of 64-bit numbers two registers: more of any only take more addresses.
constexpr unsigned kMostSteps = 4;

void unroll(llvm::Loop* loop, uint64_t register_bits, const Analyses& known) {
  const std::vector<Product> products = products_in(*loop->getHeader(), register_bits);
  if (products.empty()) return;
  const auto next = [&](const Product& product) { return is_next(product.number, *loop, known.scev); };
  if (!std::all_of(products.begin(), products.end(), next)) return;
  const unsigned lanes = num_lanes(products[0].add->getType()->getScalarType());
  const unsigned count = known.scev.getSmallConstantTripCount(loop);
  const size_t vectors = num_distinct(products, &Product::vector),
               rows = num_distinct(products, &Product::number);
  const auto order = [&](unsigned steps) {
    if (count != 0 && count < 2 * steps) return Order::kNone;
    return order_of(products.size(), vectors * steps, rows, lanes, true);
  };
  if (order(lanes) == Order::kNone) return;
  unsigned steps = lanes;
  while (2 * steps <= kMostSteps && order(2 * steps) == Order::kByRows) steps *= 2;
  llvm::UnrollLoopOptions options{};
  options.Count = steps;
  options.Runtime = true;
  options.AllowExpensiveTripCount = true;
  llvm::UnrollLoop(loop, options, &known.loops, &known.scev, &known.tree, &known.assumptions, &known.costs,
                   &known.remarks, true);
}

// ---- numbers by lanes

// Whether each sum only meets products of the same row, or of rows that come later, and nothing else in the
// block needs it.
bool may_go_by_rows(const std::vector<Product>& products, const Lanes& lanes) {
  llvm::DenseMap<llvm::Value*, size_t> row_of, row_of_sum;
  for (const Product& product : products) {
    const size_t row = row_of.try_emplace(lanes.find(product.number)->quad, row_of.size()).first->second;
    const auto before = row_of_sum.find(product.sum);
    if (before != row_of_sum.end() && before->second > row) return false;
    row_of_sum[product.add] = row;
  }
  return std::all_of(products.begin(), products.end(), [&](const Product& product) {
    return std::all_of(product.add->user_begin(), product.add->user_end(), [&](llvm::User* user) {
      auto* instruction = llvm::cast<llvm::Instruction>(user);
      return instruction->getParent() != product.add->getParent() || llvm::isa<llvm::PHINode>(instruction) ||
             std::any_of(products.begin(), products.end(), [&](const Product& other) {
               return other.add == instruction && other.sum == product.add && other.vector != product.add;
             });
    });
  });
}

void use_lanes(llvm::BasicBlock& block, uint64_t register_bits, llvm::ScalarEvolution& scev) {
  std::vector<Product> products = products_in(block, register_bits);
  if (products.empty()) return;
  const Lanes lanes(products, scev);
  std::erase_if(products, [&](const Product& product) { return !lanes.find(product.number); });
  if (products.empty()) return;
  llvm::SmallPtrSet<llvm::Value*, 32> rows, sums;
  for (const Product& product : products) rows.insert(lanes.find(product.number)->quad);
  for (const Product& product : products) sums.insert(product.add);
  const auto heads = static_cast<size_t>(std::count_if(
      products.begin(), products.end(), [&](const Product& product) { return !sums.contains(product.sum); }));
  const Order order =
      order_of(heads, num_distinct(products, &Product::vector), rows.size(),
               num_lanes(products[0].add->getType()->getScalarType()), may_go_by_rows(products, lanes));
  if (order != Order::kNone) rewrite_by_lanes(block, products, lanes, order == Order::kByRows);
}

}  // namespace

llvm::PreservedAnalyses LaneProducts::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  const Analyses known{analyses.getResult<llvm::LoopAnalysis>(function),
                       analyses.getResult<llvm::ScalarEvolutionAnalysis>(function),
                       analyses.getResult<llvm::DominatorTreeAnalysis>(function),
                       analyses.getResult<llvm::AssumptionAnalysis>(function),
                       analyses.getResult<llvm::TargetIRAnalysis>(function),
                       analyses.getResult<llvm::OptimizationRemarkEmitterAnalysis>(function)};
  std::vector<llvm::Loop*> innermost;
  for (llvm::Loop* loop : known.loops.getLoopsInPreorder()) {
    if (loop->isInnermost() && loop->getNumBlocks() == 1 && loop->isLoopSimplifyForm())
      innermost.push_back(loop);
  }
  const auto bits = static_cast<uint64_t>(register_bits);
  for (llvm::Loop* loop : innermost) unroll(loop, bits, known);
  // numbers may stand in registers already: also loops that were not unrolled
  for (llvm::Loop* loop : known.loops.getLoopsInPreorder()) {
    if (loop->isInnermost() && loop->getNumBlocks() == 1) use_lanes(*loop->getHeader(), bits, known.scev);
  }
  return llvm::PreservedAnalyses::none();
}

}  // namespace tilewright::codegen
