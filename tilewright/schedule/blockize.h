// A loop nest around one block as a block of its own: what blockize does, and tensorize before it compares.
#pragma once
#include "tilewright/schedule/state.h"

namespace tilewright::schedule {

/// The outer block's realization and what the inner block has become.
struct Blockized {
  BlockRealize outer;
  const BlockNode* before;  // the block inside of the loop
  Block inner;
};

/// Divides the axes of the only block in `loop` into what the loops outside choose (which tile) and what
/// `loop` and the loops inside of it run over (within the tile).  Raises UserError when that is not possible.
Blockized blockized(const State& state, NodeId loop, bool preserve_unit_iters);

}  // namespace tilewright::schedule
