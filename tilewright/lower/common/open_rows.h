// Tiles of rows whose number is known only at run time.
#pragma once
#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

/// `loop` over tiles of rows without guards around sums in registers.  Rows beyond the last are computed from
/// the last one, and not stored; a last tile of few rows is a smaller one, of 1, 2, 4, ... rows:
///   for i in range((n + 3) // 4): for j in unroll(4):
///       if i * 4 + j < n: sums[j] = A[i * 4 + j]
///       if i * 4 + j < n: C[i * 4 + j] = sums[j]
///   ->  for i in range((n + 1) // 4): for j in unroll(4):
///           sums[j] = A[min(i * 4 + j, n - 1)]
///           if i * 4 + j < n: C[i * 4 + j] = sums[j]
///       rest = n - (n + 1) // 4 * 4
///       if 0 < rest: if rest <= 1: the same for j < 1, else: for j < 2
/// The same object where rows are not iterations of unrolled loops, or read in another way.
Stmt split_open_rows(const For& loop);

}  // namespace tilewright::lower
