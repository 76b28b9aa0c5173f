// What read_at and write_at share: a block that copies what one iteration of a loop touches.
#pragma once
#include "tilewright/schedule/access.h"

namespace tilewright::schedule {

struct TileCopyArgs {
  NodeId loop = kNoNode, block = kNoNode;
  Buffer buffer;
  bool is_read = false;
  std::string storage_scope;
};

/// Makes `block` access a new buffer and puts a block that copies the tile before (after) the statement of
/// `loop` that holds it.  Returns the copying block.
NodeId add_tile_copy(State& state, const TileCopyArgs& args);

}  // namespace tilewright::schedule
