// Products of vectors and single numbers as multiply-adds of SVE by lanes (lane_products.cc).
#pragma once
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>

#include <map>
#include <vector>

#include "tilewright/codegen/llvm/sum_loops.h"
#include "tilewright/codegen/llvm/sve.h"

namespace tilewright::codegen {

/// Where a number is (FMLA takes one lane of each 128 bits of a register): a lane of what lies at a pointer,
/// or of a value of 128 bits.
struct Lane {
  llvm::Value* quad = nullptr;  // the load of lane 0, or the value
  unsigned lane = 0;
};

/// Which numbers of a block are lanes of one register: those that lie one behind the other in memory, or are
/// taken out of one value.
class Lanes {
 public:
  Lanes(const std::vector<Product>& products, llvm::ScalarEvolution& scev);
  /// Null if it is none.
  const Lane* find(llvm::Value* number) const;

 private:
  using Row = std::map<int64_t, llvm::LoadInst*>;  // by the offset in bytes from any of them

  void add(llvm::LoadInst* load, llvm::ScalarEvolution& scev);
  void add(llvm::Value* number);
  void take_whole_quads(const Row& row);

  const unsigned lanes_;
  std::vector<Row> rows_;
  llvm::SmallPtrSet<llvm::Value*, 32> seen_;
  llvm::DenseMap<llvm::Value*, Lane> places_;
};

/// Makes multiply-adds by lanes of `products`, all of `block`, whose numbers `lanes` knows.
/// by_rows  those with numbers of one register follow each other, at the end of the block
void rewrite_by_lanes(llvm::BasicBlock& block, const std::vector<Product>& products, const Lanes& lanes,
                      bool by_rows);

}  // namespace tilewright::codegen
