// What compute_at and reverse_compute_at share: where a block may go and where in a loop body it is put.
#pragma once
#include "tilewright/schedule/access.h"

namespace tilewright::schedule {

/// Raises UserError unless block and loop are of one scope and the loop is not around the block.
void require_same_scope(const State& state, NodeId block, NodeId loop);

/// The position among the statements of `loop` where a block goes: index -1 the last possible, -2 the first
/// possible, else the position itself.  It comes after `producers` and before `consumers`, blocks of which
/// some are in the loop.
size_t insert_position(const State& state, NodeId loop, int64_t index, const std::vector<NodeId>& producers,
                       const std::vector<NodeId>& consumers);

/// `loop` with `stmt` put at `position` of its body.
Stmt with_inserted(const ForNode* loop, size_t position, const Stmt& stmt);

}  // namespace tilewright::schedule
