// Reads of later iterations as hints: s[C].prefetch(A, i, 2) asks for the lines of A that iteration i + 2 reads.
//   for i: C[i, ...] = A[i, ...]    ->    for i: { for p: prefetch(A[i + 2, p * 16]); C[i, ...] = A[i, ...] }
#pragma once
#include "tilewright/tir/tir.h"

namespace tilewright::schedule {
using namespace tir;

/// A statement for the beginning of `loop`: one hint for each 64 bytes of the rows of `buffer` that the iteration `offset`
/// later reads; null if the loop reads none of it.  A hint from behind the end does nothing.
Stmt prefetch_of(const ForNode* loop, const Buffer& buffer, const PrimExpr& offset);

}  // namespace tilewright::schedule
