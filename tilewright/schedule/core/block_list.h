// Helpers of primitives that look from one block at others.
#pragma once
#include "tilewright/schedule/core/primitive.h"

namespace tilewright::schedule {

/// The arguments of a primitive that only looks at one block.
struct FromBlock {
  BlockRef block;
  static constexpr auto fields() {
    return std::tuple{field<&FromBlock::block>("block", "the block to start from")};
  }
};

/// Handles on blocks.
inline std::vector<BlockRef> new_block_refs(State& state, const std::vector<NodeId>& blocks) {
  std::vector<BlockRef> refs;
  for (NodeId block : blocks) refs.push_back(state.new_block_ref(block));
  return refs;
}

}  // namespace tilewright::schedule
