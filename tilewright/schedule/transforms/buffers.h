// Changing a buffer everywhere: its scope or its layout.
#pragma once
#include <functional>

#include "tilewright/schedule/core/access.h"

namespace tilewright::schedule {

/// The place of a buffer in one of the two lists of a block.
struct BufferPlace {
  Buffer buffer;
  bool is_read = false;
  size_t index = 0;
};
/// The buffer that `which` names among those that `block` reads (`is_read`) or writes; `which` becomes its
/// number.  Raises UserError if there is none.
BufferPlace require_buffer(const State& state, NodeId block, BufferArg* which, bool is_read);
/// The same in both lists: a number alone is not enough, and `which` becomes ("read" | "write", number).  A
/// name is looked for among the written ones first.
BufferPlace require_buffer(const State& state, NodeId block, BufferArg* which);

struct WrittenBuffer {
  Buffer buffer;
  NodeId owner;  // the block that allocates it, or kNoNode for a parameter
  NodeId root;   // the function's root block
};
/// Where `buffer`, which `block` uses, is allocated.
WrittenBuffer allocated(const State& state, NodeId block, const Buffer& buffer);

/// The indices of an element in a new layout.
using IndexChange = std::function<std::vector<PrimExpr>(const std::vector<PrimExpr>& indices)>;

/// Puts `changed` in the place of an allocated buffer or, when it is a parameter, of the function's.  With
/// `indices` every access gets new indices and the regions that blocks declare are found anew.
void replace_allocated_buffer(State& state, const WrittenBuffer& target, const Buffer& changed,
                              const IndexChange& indices);

}  // namespace tilewright::schedule
