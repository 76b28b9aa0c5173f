// A tile whose rows are not all there, as smaller tiles that are whole.
#pragma once
#include <optional>

#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

/// The loops over the rows of a tile, all of them unrolled and from 0 on: row r runs where `condition` holds.
struct TileRows {
  int64_t count = 0;
  std::vector<const VarNode*> vars;  // of these loops
  const VarNode* row = nullptr;      // the one of them that stands for the row in `condition`
  PrimExpr condition;
};

/// `body`, which has no guards of rows, as tiles of 8, 4, 2 and 1 rows, of those that are there:
///   for k in range(8): for j in unroll(5): S[j] += A[i * 5 + j + k]
///   for j in unroll(5): C[i * 5 + j] = S[j]
///   ->  if i * 5 + 3 < n: for k in range(8): for j in unroll(4): S[j] += A[i * 5 + j + k]
///                         for j in unroll(4): C[i * 5 + j] = S[j]
///       start = select(i * 5 + 3 < n, 4, 0)
///       if i * 5 + start < n: the same for j < 2, from row `start` on
///       ...
/// Nothing where no other condition depends on rows, as those of padding do, which most rows of a whole tile do
/// not need; and where rows could depend on each other: what is stored must be apart for each row, and in memory
/// that the body reads nothing of unless it is the body's own.
std::optional<Stmt> in_smaller_tiles(const Stmt& body, const TileRows& rows);

}  // namespace tilewright::lower
