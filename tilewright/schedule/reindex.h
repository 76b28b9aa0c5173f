// What reindex, reindex_cache_read and reindex_cache_write share: a buffer laid out by a block's own axes,
// and the block that copies elements between it and the original, one for each instance of the block's axes.
#pragma once
#include "tilewright/schedule/state.h"

namespace tilewright::schedule {

struct ReindexArgs {
  NodeId block = kNoNode;
  Buffer buffer;
  bool is_read = false;
  std::string storage_scope;
  std::string name;    // of the new buffer and of the copying block
  IndexMap index_map;  // from the block's axes to the indices of the new buffer; null: the used axes in order
  bool keep_unit_axes = false;  // without a map: axes of extent 1 that are used are dimensions too
};

/// Makes `block` read (write) the new buffer and puts the copying block before (after) the statement of the
/// scope that holds it.  Returns the copying block.  Raises UserError unless the block accesses one element
/// of the buffer, at one place.
NodeId add_reindexed_stage(State& state, const ReindexArgs& args);

}  // namespace tilewright::schedule
