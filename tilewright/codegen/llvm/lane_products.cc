// On vectors of <8 x float> and SVE registers of 256 bits, transforms
//   for k:  sum[r][v] += splat(a[r][k]) * b[k][v]          ldr s; mov z.s, s; fmla z, p/m, z, z ...
// into, four iterations at once,
//   q = 4 values at a[r][k], in each 128 bits of a register                                 ld1rqw z
//   sum[r][v] += q[n] * b[k + n][v], n < 4                                         fmla z.s, z.s, q.s[n]
// AArch64 multiplies by a lane of a register, not by a value in memory; in SVE it is a lane of each 128 bits,
// and the register must be one of the first eight (z0 to z7; for 64-bit values, the first sixteen).  Without
// this pass, a value takes two instructions per iteration; with it, one in four iterations. Source: Arm
// Architecture Reference Manual for A-profile, FMLA (indexed), LD1RQW.
#include "tilewright/codegen/llvm/lane_products.h"

#include <algorithm>
#include <cstddef>

#include "tilewright/codegen/llvm/lane_rewriter.h"

namespace tilewright::codegen {
namespace {

constexpr size_t kRegisters = 32;

enum class Order { kNone, kByRows, kBySteps };

// The order in which multiply-adds of `rows` registers with `lanes` values each may follow each other without
// spilling a sum.  Row by row, the vectors of all iterations and the values of one row stay in registers;
// iteration by iteration, the values of all rows stay, for which there are eight registers.  LLVM does not
// find room for more than five of them beside the sums in the other registers.
Order order_of(size_t sums, size_t vectors_of_steps, size_t rows, size_t lanes, bool may_go_by_rows) {
  constexpr size_t kOther = 2, kMostRows = 5, kMostLanes = 4;
  if (may_go_by_rows && sums + vectors_of_steps + kOther <= kRegisters) return Order::kByRows;
  const size_t vectors = (vectors_of_steps - 1) / lanes + 1;
  if (lanes <= kMostLanes && rows <= kMostRows && sums + vectors + rows + kOther <= kRegisters)
    return Order::kBySteps;
  return Order::kNone;
}

// Unrolls the loop by at least the number of lanes of a register.
void take_lanes_together(llvm::Loop* loop, uint64_t register_bits, llvm::Function& function,
                         llvm::FunctionAnalysisManager& analyses) {
  // of 64-bit values two registers: more of either would only take more addresses
  constexpr unsigned kMostSteps = 4;
  auto& scev = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  const std::vector<Product> products = products_in(*loop->getHeader(), kSegmentBits, register_bits);
  if (products.empty() || !take_next_numbers(products, *loop, scev)) return;
  const unsigned lanes = num_lanes(products[0].add->getType()->getScalarType());
  const unsigned count = scev.getSmallConstantTripCount(loop);
  const size_t vectors = num_distinct(products, &Product::vector),
               rows = num_distinct(products, &Product::number);
  const auto order = [&](unsigned steps) {
    if (count != 0 && count < 2 * steps) return Order::kNone;
    return order_of(products.size(), vectors * steps, rows, lanes, true);
  };
  if (order(lanes) == Order::kNone) return;
  unsigned steps = lanes;
  while (2 * steps <= kMostSteps && order(2 * steps) == Order::kByRows) steps *= 2;
  take_together(loop, steps, function, analyses);
}

// True if each sum is only used by products of the same row or of later rows, and by nothing else in the
// block.
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
  std::vector<Product> products = products_in(block, kSegmentBits, register_bits);
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
  const auto bits = static_cast<uint64_t>(register_bits);
  const auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  for (llvm::Loop* loop : blocks_that_loop(loops)) take_lanes_together(loop, bits, function, analyses);
  // also loops that were not unrolled, since their values may be in registers already
  auto& scev = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  for (llvm::Loop* loop : blocks_that_loop(loops)) use_lanes(*loop->getHeader(), bits, scev);
  return llvm::PreservedAnalyses::none();
}

}  // namespace tilewright::codegen
