// A loop nest around one block as a block of its own: what blockize does, and tensorize before it compares.
#pragma once
#include "tilewright/schedule/core/primitive.h"

namespace tilewright::schedule {

/// The outer block's realization and what the inner block has become.
struct Blockized {
  BlockRealize outer;
  const BlockNode* before;  // the block inside of the loop
  Block inner;
};

/// A loop with one block inside, or blocks that stand one after the other.
struct TileTarget {
  std::variant<LoopRef, std::vector<BlockRef>> which;
  operator ArgValue() const {
    return std::visit([](const auto& target) { return ArgValue(target); }, which);
  }
};
void read(const ArgValue& value, std::string_view name, TileTarget* out);

/// The statements from the first of `blocks` to the last as the body of a new block, whose axes are the loops
/// around them that they use, and where these statements stand.  Raises UserError if another block is in
/// between.
struct Enclosed {
  NodeId around = kNoNode;  // the loop or block whose body it is
  Stmt stmt;                // `around` with the new block in it
  Block block;
  BlockMap forwarded;
};
Enclosed enclosed(const State& state, const std::vector<NodeId>& blocks, bool preserve_unit_iters);

/// Divides the axes of the only block in `loop` into what the loops outside choose (which tile) and what
/// `loop` and the loops inside of it run over (within the tile).  Raises UserError when that is not possible.
Blockized blockized(const State& state, NodeId loop, bool preserve_unit_iters);

template <>
struct primitive_detail::TypeName<TileTarget> {
  static constexpr std::string_view kText = "Loop | list[Block]";
};

}  // namespace tilewright::schedule
