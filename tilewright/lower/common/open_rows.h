// Tiles of rows whose number is known only at run time.
#pragma once
#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

/// `loop` over tiles of rows without the guards that only the last tile needs, and that tile once for each
/// number of rows that it may have, where these stand one below the other:
///   for i in range((n + 3) // 4): for j in unroll(4): if i * 4 + j < n: f(i, j)
///   ->  for i in range(n // 4): for j in unroll(4): f(i, j)
///       rest = n % 4
///       if rest == 1: for j in unroll(4): if j < 1: f(n // 4, j)
///       else: if rest == 2: ...
/// Where rows are lanes or iterations, or such tiles are large, the last tile has guards (j < rest).  A
/// parallel loop stays one loop with a branch inside.  The same object if there are no such guards.
Stmt split_open_rows(const For& loop);

}  // namespace tilewright::lower
