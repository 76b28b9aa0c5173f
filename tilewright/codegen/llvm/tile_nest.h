// Loop nests that add products of matrix tiles, for processors with tile registers (AMX).
//   for ko:                                                # terms, any number of loops
//     for io, jo:                                          # tiles
//       for i, j, k, g in T.grid(16, 16, 16, 4):           # one instruction
//         C[(io * 16 + i) * 32 + jo * 16 + j] += cast(A[(io * 16 + i) * lda + (ko * 16 + k) * 4 + g])
//                                              * cast(B[(ko * 16 + k) * 128 + (jo * 16 + j) * 4 + g])
// The outermost loop carries the annotation kMatrixTiles.  Other machines run the loops as they are.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "tilewright/tir/tir.h"

namespace tilewright::codegen {

/// The operands of one instruction: `rows` x (`groups` * 32 bits) times (`groups` * 32 bits) x `columns`.
struct TileShape {
  int64_t rows = 0, columns = 0, groups = 0;
};

/// The shape of a tile register.
struct TileRegister {
  uint16_t row_bytes = 0;
  uint8_t rows = 0;
  bool operator==(const TileRegister&) const = default;
};

/// One of the three matrices of a nest.
struct TileOperand {
  tir::Buffer buffer;
  DataType dtype;
  tir::PrimExpr index;           // of its first element, in terms of the loops over terms
  int64_t stride = 0;            // elements between its rows
  std::vector<int64_t> offsets;  // offsets of its tiles from the first element
};

struct TileProduct {
  size_t sum, row, column;  // tiles
};

struct TileNest {
  TileShape shape;
  std::vector<const tir::ForNode*> terms;  // outermost first
  int64_t num_unrolled = 1;                // iterations of a loop inside of them whose steps are not constant
  tir::Var unrolled;                       // the variable of that loop, if there is one
  TileOperand sum, row, column;
  std::vector<TileProduct> products;
  int64_t next_columns = 0;       // distance in bytes to the next columns, to be prefetched; 0: none
  bool is_row_streamed = false;   // rows are not kept in L1
  bool begins_with_zero = false;  // a statement before it, which is left out, sets the sums to zero
  // the loop in whose first iteration alone it begins with zero; null: always
  const tir::ForNode* block = nullptr;
};

/// The tile nest of `loop`.  Raises UserError, with the reason, if the instructions cannot compute it.
TileNest tile_nest(const tir::ForNode* loop);
/// The elements of the sums of `nest`, as offsets from the first one.
std::set<int64_t> sum_elements(const TileNest& nest);
/// The growth of `index` per step of `var`; nullopt if it is not constant.
std::optional<int64_t> step_of(const tir::PrimExpr& index, const tir::Var& var);
/// True if both have the same value for all values of their variables.
bool is_same_index(const tir::PrimExpr& a, const tir::PrimExpr& b);
/// True if `stmt` sets all sums of `nest` to zero, and nothing else.
bool sets_to_zero(const tir::Stmt& stmt, const TileNest& nest);
/// If `stmt` does nothing but set to zero the sums of all iterations of `nest` inside `block`: the outermost
/// loop of `block`, over terms, in whose first iteration each sum is accessed first; else null.
///
/// loop  the loop of `nest`, which is inside `block` and only inside other loops
const tir::ForNode* block_of_zeros(const tir::Stmt& stmt, const tir::Stmt& block, const tir::ForNode* loop,
                                   const TileNest& nest);

}  // namespace tilewright::codegen
