// Loop nests that add products of matrix tiles, as processors with tile registers do it (AMX).
//   for ko:                                                # terms, any number of loops
//     for io, jo:                                          # tiles
//       for i, j, k, g in T.grid(16, 16, 16, 4):           # one instruction
//         C[(io * 16 + i) * 32 + jo * 16 + j] += cast(A[(io * 16 + i) * lda + (ko * 16 + k) * 4 + g])
//                                              * cast(B[(ko * 16 + k) * 128 + (jo * 16 + j) * 4 + g])
// The outermost loop carries the annotation kMatrixTiles.  Code for other machines runs the loops.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "tilewright/tir/tir.h"

namespace tilewright::codegen {

/// What one instruction multiplies: `rows` x (`groups` * 32 bits) by (`groups` * 32 bits) x `columns`.
struct TileShape {
  int64_t rows = 0, columns = 0, groups = 0;
};

/// What a tile register holds.
struct TileRegister {
  uint16_t row_bytes = 0;
  uint8_t rows = 0;
  bool operator==(const TileRegister&) const = default;
};

/// One of the three matrices of a nest.
struct TileOperand {
  tir::Buffer buffer;
  DataType dtype;
  tir::PrimExpr index;           // of the first element, with the variables of the loops over terms
  int64_t stride = 0;            // elements between its rows
  std::vector<int64_t> offsets;  // elements from there to each of its tiles
};

struct TileProduct {
  size_t sum, row, column;  // tiles
};

struct TileNest {
  TileShape shape;
  std::vector<const tir::ForNode*> terms;  // outermost first
  int64_t num_unrolled = 1;                // turns of a loop inside of them, which moves in no constant steps
  tir::Var unrolled;                       // its variable, if there is such a loop
  TileOperand sum, row, column;
  std::vector<TileProduct> products;
  int64_t next_columns = 0;       // bytes from columns to those that come after them, to be fetched; 0: none
  bool is_row_streamed = false;   // rows are not kept in the first cache
  bool begins_with_zero = false;  // a statement before it sets the sums to zero, and is left out
  const tir::ForNode* block = nullptr;  // the loop in whose first turn alone it begins so; null: always
};

/// The nest of `loop`.  Raises UserError, with the reason, if instructions cannot compute it.
TileNest tile_nest(const tir::ForNode* loop);
/// The sums of `nest`, as elements from the first one.
std::set<int64_t> sum_elements(const TileNest& nest);
/// How much `index` grows with each step of `var`; nothing if that is no constant.
std::optional<int64_t> step_of(const tir::PrimExpr& index, const tir::Var& var);
/// Whether both are the same number, whatever their variables are.
bool is_same_index(const tir::PrimExpr& a, const tir::PrimExpr& b);
/// Whether `stmt` sets all sums of `nest` to zero, and nothing else.
bool sets_to_zero(const tir::Stmt& stmt, const TileNest& nest);
/// If `stmt` sets to zero what all turns of `nest` that are inside of `block` add to, and nothing else: the
/// outermost loop of `block`, which is over terms, in whose first turn each of them comes first; else null.
///
/// loop  that of `nest`, which is inside of `block` and of other loops alone
const tir::ForNode* block_of_zeros(const tir::Stmt& stmt, const tir::Stmt& block, const tir::ForNode* loop,
                                   const TileNest& nest);

}  // namespace tilewright::codegen
