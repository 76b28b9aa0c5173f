// The elements that a block surely writes, in contrast to those it may write, and the check that they are all
// that another block reads.
#pragma once
#include "tilewright/schedule/core/access.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {

/// True only if, while the loops strictly inside of `outer` run, block `writer` stores to every element of
/// `needed` (a region of `buffer` written with the loops around `outer` and `outer` itself).  Conditions on
/// the way from `outer` to the block count; only iterations of `outer` count in which `where` holds.
bool surely_writes(const State& state, NodeId writer, const Buffer& buffer,
                   const arith::IntervalRegion& needed, NodeId outer, const PrimExpr& where = bool_imm(true));

/// The condition that surely holds where `block` runs and depends on no loop inside of `outer`.
PrimExpr runs_where(const State& state, NodeId block, NodeId outer);

/// True only if each element that the access reads was written before, in the same iteration of the loops
/// around both, by a block inside of `inside` that comes earlier.
bool is_covered_by_earlier(const State& state, const Access& read, NodeId inside);

}  // namespace tilewright::schedule
