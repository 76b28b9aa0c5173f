#include "tilewright/codegen/llvm/lane_rewriter.h"

#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <cstddef>
#include <optional>

namespace tilewright::codegen {

Lanes::Lanes(const std::vector<Product>& products, llvm::ScalarEvolution& scev)
    : lanes_(num_lanes(products[0].add->getType()->getScalarType())) {
  for (const Product& product : products) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(product.number)) add(load, scev);
  }
  for (const Row& row : rows_) take_whole_quads(row);
  for (const Product& product : products) add(product.number);
}

const Lane* Lanes::find(llvm::Value* number) const {
  const auto found = places_.find(number);
  return found == places_.end() ? nullptr : &found->second;
}

void Lanes::add(llvm::LoadInst* load, llvm::ScalarEvolution& scev) {
  if (!load->isSimple() || !seen_.insert(load).second) return;
  for (Row& row : rows_) {
    const auto& [offset, other] = *row.begin();
    if (other->getParent() != load->getParent()) continue;
    const auto* distance = llvm::dyn_cast<llvm::SCEVConstant>(
        scev.getMinusSCEV(scev.getSCEV(load->getPointerOperand()), scev.getSCEV(other->getPointerOperand())));
    if (!distance) continue;
    row.emplace(offset + distance->getAPInt().getSExtValue(), load);
    return;
  }
  rows_.push_back({{0, load}});
}

// Takes groups of consecutive scalars that fill a register, if the first of each group is loaded first.
void Lanes::take_whole_quads(const Row& row) {
  std::vector<llvm::LoadInst*> quad;
  int64_t last = 0;
  for (const auto& [offset, load] : row) {
    const auto size = static_cast<int64_t>(load->getType()->getPrimitiveSizeInBits().getFixedValue() / 8);
    if (!quad.empty() && (offset != last + size || !quad[0]->comesBefore(load))) quad.clear();
    quad.push_back(load);
    last = offset;
    if (quad.size() < lanes_) continue;
    for (unsigned lane = 0; lane < lanes_; ++lane) places_[quad[lane]] = {quad[0], lane};
    quad.clear();
  }
}

// Adds a scalar that is extracted from a lane of a vector.
void Lanes::add(llvm::Value* number) {
  llvm::Value* source = nullptr;
  int64_t lane = -1;
  if (auto* extract = llvm::dyn_cast<llvm::ExtractElementInst>(number)) {
    source = extract->getVectorOperand();
    if (const auto* place = llvm::dyn_cast<llvm::ConstantInt>(extract->getIndexOperand()))
      lane = static_cast<int64_t>(place->getZExtValue());
  } else if (auto* chosen = llvm::dyn_cast<llvm::ShuffleVectorInst>(number)) {
    source = chosen->getOperand(0);
    lane = chosen->getMaskValue(0);
  }
  const auto* type = source ? llvm::dyn_cast<llvm::FixedVectorType>(source->getType()) : nullptr;
  if (type && type->getNumElements() == lanes_ && lane >= 0 && lane < lanes_)
    places_[number] = {source, static_cast<unsigned>(lane)};
}

namespace {

/// Rewrites the products of a block.
class Rewriter {
 public:
  explicit Rewriter(llvm::BasicBlock& block) : block_(block), builder_(block.getContext()) {}

  void rewrite(const std::vector<Product>& products, const Lanes& lanes, bool by_rows) {
    std::vector<std::vector<llvm::Instruction*>> rows;  // instructions of the scalars of one register
    llvm::DenseMap<llvm::Value*, size_t> row_of;
    std::vector<llvm::Instruction*> results;
    std::optional<unsigned> last_lane;
    for (const Product& product : products) {
      const Lane& place = *lanes.find(product.number);
      if (!by_rows && last_lane && last_lane != place.lane) keep_order(product.add);
      last_lane = place.lane;
      const auto [row, is_new] = row_of.try_emplace(place.quad, rows.size());
      llvm::Value* quad = quad_of(place.quad, product.vector->getType());
      if (is_new) rows.push_back({llvm::cast<llvm::Instruction>(quad)});
      llvm::Value *sum = scalable(product.sum), *vector = scalable(product.vector);
      builder_.SetInsertPoint(product.add);
      llvm::CallInst* added =
          builder_.CreateIntrinsic(llvm::Intrinsic::aarch64_sve_fmla_lane, {sum->getType()},
                                   {sum, vector, quad, builder_.getInt32(place.lane)});
      llvm::Value* result = builder_.CreateExtractVector(product.add->getType(), added, builder_.getInt64(0));
      scalable_[product.add] = added;
      rows[row->second].push_back(added);
      results.push_back(llvm::cast<llvm::Instruction>(result));
    }
    for (size_t n = 0; n < products.size(); ++n) products[n].add->replaceAllUsesWith(results[n]);
    if (by_rows) {
      llvm::Instruction* end = block_.getTerminator();
      for (const auto& row : rows) {
        for (llvm::Instruction* instruction : row) instruction->moveBefore(end);
        stay_before(row, end);
      }
      for (llvm::Instruction* result : results) result->moveBefore(end);
    }
    llvm::SmallVector<llvm::WeakTrackingVH, 64> unused;
    for (const Product& product : products) unused.emplace_back(product.add);
    llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(unused);
  }

 private:
  // Keeps the sums of a row before the loads of the next row's scalars.
  void stay_before(const std::vector<llvm::Instruction*>& row, llvm::Instruction* place) {
    const auto is_last = [&](llvm::Instruction* added) {
      return std::none_of(added->user_begin(), added->user_end(), [&](llvm::User* user) {
        return std::find(row.begin(), row.end(), user) != row.end();
      });
    };
    llvm::SmallVector<llvm::Value*> sums;
    std::copy_if(row.begin(), row.end(), std::back_inserter(sums), is_last);
    const llvm::SmallVector<llvm::Value*> same = keep_order(place, sums);
    for (size_t n = 0; n < sums.size(); ++n) {
      sums[n]->replaceUsesWithIf(same[n], [&](const llvm::Use& use) {
        const auto* call = llvm::dyn_cast<llvm::CallInst>(use.getUser());
        return !call || !call->isInlineAsm();
      });
    }
  }

  // Moves the insertion point behind `value`, so that its uses may be inserted.
  void go_behind(llvm::Value* value) {
    auto* made = llvm::dyn_cast<llvm::Instruction>(value);
    if (made && made->getParent() == &block_ && !llvm::isa<llvm::PHINode>(made))
      builder_.SetInsertPoint(made->getNextNode());
    else
      builder_.SetInsertPoint(&block_, block_.getFirstInsertionPt());
  }

  llvm::Value* scalable(llvm::Value* vector) {
    llvm::Value*& known = scalable_[vector];
    if (known) return known;
    go_behind(vector);
    return known = in_register(builder_, vector);
  }

  // A register with these 128 bits repeated.
  llvm::Value* quad_of(llvm::Value* source, llvm::Type* vector) {
    llvm::Value*& known = quads_[source];
    if (known) return known;
    llvm::ScalableVectorType* type = register_type(vector->getScalarType());
    auto* load = llvm::dyn_cast<llvm::LoadInst>(source);
    if (load && load->getParent() == &block_) {
      builder_.SetInsertPoint(load);
      auto* mask = llvm::ScalableVectorType::get(builder_.getInt1Ty(), type->getMinNumElements());
      return known =
                 builder_.CreateIntrinsic(llvm::Intrinsic::aarch64_sve_ld1rq, {type},
                                          {llvm::Constant::getAllOnesValue(mask), load->getPointerOperand()});
    }
    llvm::Value* first = scalable(source);
    builder_.SetInsertPoint(llvm::cast<llvm::Instruction>(first)->getNextNode());
    return known = builder_.CreateIntrinsic(llvm::Intrinsic::aarch64_sve_dupq_lane, {type},
                                            {first, builder_.getInt64(0)});
  }

  llvm::BasicBlock& block_;
  llvm::IRBuilder<> builder_;
  std::map<llvm::Value*, llvm::Value*> scalable_, quads_;
};

}  // namespace

void rewrite_by_lanes(llvm::BasicBlock& block, const std::vector<Product>& products, const Lanes& lanes,
                      bool by_rows) {
  Rewriter(block).rewrite(products, lanes, by_rows);
}

}  // namespace tilewright::codegen
