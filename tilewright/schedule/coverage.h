// What a block surely writes, in contrast to what it may write, and whether that is all that another block
// reads.
#pragma once
#include "tilewright/schedule/access.h"

namespace tilewright::schedule {

/// True only if, while the loops strictly inside of `outer` run, block `writer` stores to every element of
/// `needed` (a region of `buffer` written with the loops around `outer` and `outer` itself).
bool surely_writes(const State& state, NodeId writer, const Buffer& buffer,
                   const arith::IntervalRegion& needed, NodeId outer);

/// True only if each element that the access reads was written before, in the same iteration of the loops
/// around both, by a block inside of `inside` that comes earlier.
bool is_covered_by_earlier(const State& state, const Access& read, NodeId inside);

}  // namespace tilewright::schedule
