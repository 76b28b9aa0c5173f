// Changing the annotations of a block or loop.
#pragma once
#include "tilewright/schedule/core/state.h"

namespace tilewright::schedule {

/// Runs `edit(AttrMap&)` on the annotations of `id` and puts the result in place.
template <class Edit>
void edit_annotations(State& state, NodeId id, Edit&& edit) {
  if (const ForNode* loop = state.node(id).loop())
    return state.replace(id, with(loop, [&](ForNode& n) { edit(n.annotations); }));
  const BlockRealizeNode* realize = state.node(id).realize();
  const Block block = with(realize->block, [&](BlockNode& n) { edit(n.annotations); });
  state.replace(id, with(realize, [&](BlockRealizeNode& n) { n.block = block; }),
                {{realize->block.get(), block}});
}

}  // namespace tilewright::schedule
