// Shared by reindex, reindex_cache_read and reindex_cache_write: a buffer laid out by a block's own axes,
// and the block that copies elements between it and the original, one for each instance of the block's axes.
#pragma once
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/transforms/buffers.h"

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

/// The arguments of reindex_cache_read and reindex_cache_write.
template <bool kIsRead>
struct ReindexCacheArgs {
  BlockRef block;
  BufferArg buffer_index;
  std::string storage_scope;
  IndexMap index_map;
  static constexpr std::string_view kRequired[] = {"storage_scope"};
  static constexpr auto fields() {
    using Args = ReindexCacheArgs;
    return std::tuple{
        field<&Args::block>("block",
                            kIsRead ? "the block that reads the buffer" : "the block that writes the buffer"),
        field<&Args::buffer_index>(
            kIsRead ? "read_buffer_index" : "write_buffer_index",
            kIsRead ? "which of the buffers it reads" : "which of the buffers it writes"),
        field<&Args::storage_scope>("storage_scope",
                                    "of the new buffer: \"global\", \"local\", \"shared\", ..."),
        field<&Args::index_map>("index_map", "from the block's axes to the indices of the new buffer")};
  }
};

template <bool kIsRead>
BlockRef reindex_cache(State& state, ReindexCacheArgs<kIsRead>& args) {
  const NodeId block = state[args.block];
  const Buffer buffer = require_buffer(state, block, &args.buffer_index, kIsRead).buffer;
  ReindexArgs reindex{
      block,          buffer, kIsRead, args.storage_scope, buffer->name + "_" + args.storage_scope,
      args.index_map, false};
  return state.new_block_ref(add_reindexed_stage(state, reindex));
}

}  // namespace tilewright::schedule
