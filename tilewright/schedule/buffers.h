// Changing a buffer everywhere: its scope or its layout.
#pragma once
#include <functional>

#include "tilewright/schedule/access.h"

namespace tilewright::schedule {

struct WrittenBuffer {
  Buffer buffer;
  NodeId owner;  // the block that allocates it, or kNoNode for a parameter
  NodeId root;   // the function's root block
};
/// Buffer number `index` among those that `block` writes (reads, if `is_read`).  Raises UserError if there is
/// none.
WrittenBuffer require_written_buffer(const State& state, NodeId block, int64_t index, bool is_read = false);

/// The indices of an element in a new layout.
using IndexChange = std::function<std::vector<PrimExpr>(const std::vector<PrimExpr>& indices)>;

/// Puts `changed` in the place of an allocated buffer or, when it is a parameter, of the function's.  With
/// `indices` every access gets new indices and the regions that blocks declare are found anew.
void replace_allocated_buffer(State& state, const WrittenBuffer& target, const Buffer& changed,
                              const IndexChange& indices);

}  // namespace tilewright::schedule
