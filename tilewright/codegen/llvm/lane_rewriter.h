// Rewrites products of vectors and scalars to SVE multiply-adds by lane (lane_products.cc).
#pragma once
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>

#include <map>
#include <vector>

#include "tilewright/codegen/llvm/sum_loops.h"
#include "tilewright/codegen/llvm/sve.h"

namespace tilewright::codegen {

/// The location of a scalar (FMLA takes one lane of each 128 bits of a register): a lane of the data at a
/// pointer, or of a 128-bit value.
struct Lane {
  llvm::Value* quad = nullptr;  // the load of lane 0, or the 128-bit value
  unsigned lane = 0;
};

/// Finds the scalars of a block that can be lanes of one register: those that are consecutive in memory, or
/// extracted from one value.
class Lanes {
 public:
  Lanes(const std::vector<Product>& products, llvm::ScalarEvolution& scev);
  /// Null if `number` is not a lane.
  const Lane* find(llvm::Value* number) const;

 private:
  using Row = std::map<int64_t, llvm::LoadInst*>;  // by offset in bytes, relative to one of them

  void add(llvm::LoadInst* load, llvm::ScalarEvolution& scev);
  void add(llvm::Value* number);
  void take_whole_quads(const Row& row);

  const unsigned lanes_;
  std::vector<Row> rows_;
  llvm::SmallPtrSet<llvm::Value*, 32> seen_;
  llvm::DenseMap<llvm::Value*, Lane> places_;
};

/// Replaces `products`, all of `block`, by multiply-adds with lanes from `lanes`.
/// by_rows  products with scalars from one register follow each other, at the end of the block
void rewrite_by_lanes(llvm::BasicBlock& block, const std::vector<Product>& products, const Lanes& lanes,
                      bool by_rows);

}  // namespace tilewright::codegen
