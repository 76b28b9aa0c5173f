// Facts about a block that updates what it has written before.
#pragma once
#include "tilewright/schedule/core/state.h"

namespace tilewright::schedule {

/// True if all that `block` does is Y[...] = op(Y[...], x) with op one of + * min max and or, x without Y, or
/// a choice between both that no order changes (analysis/update.h): its instances may run in any order (sums of floats
/// are then rounded differently).
bool is_commutative_update(const BlockNode* block);

/// True if `read` is of what the block, which has `writes`, adds to: a block with an init reads that after it
/// has written it, and T.reads may name it or not.
bool is_own_sum(const BlockNode* block, const BufferRegion& read, const std::vector<BufferRegion>& writes);
/// Why the block and what it writes are not apart: it reads memory of that, but for its own sum.  With
/// `buffer`, of this alone; "" if it does not.
std::string why_not_apart(const State& state, NodeId block, const Buffer& buffer = nullptr);

}  // namespace tilewright::schedule
