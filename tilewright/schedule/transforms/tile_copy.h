// Shared by read_at and write_at: a block that copies what one iteration of a loop touches.
#pragma once
#include "tilewright/schedule/core/access.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/transforms/buffers.h"

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

/// The arguments of read_at and write_at.
template <bool kIsRead>
struct CopyAtArgs {
  LoopRef loop;
  BlockRef block;
  BufferArg buffer_index;
  std::string storage_scope;
  static constexpr std::string_view kRequired[] = {"storage_scope"};
  static constexpr auto fields() {
    using Args = CopyAtArgs;
    return std::tuple{
        field<&Args::loop>("loop", "a loop around the block; each of its iterations copies"),
        field<&Args::block>("block", kIsRead ? "what reads the buffer" : "what writes the buffer"),
        field<&Args::buffer_index>(
            kIsRead ? "read_buffer_index" : "write_buffer_index",
            kIsRead ? "which of the buffers it reads" : "which of the buffers it writes"),
        field<&Args::storage_scope>("storage_scope",
                                    "of the new buffer: \"global\", \"local\", \"shared\", ...")};
  }
};

template <bool kIsRead>
BlockRef copy_at(State& state, CopyAtArgs<kIsRead>& args) {
  const NodeId block = state[args.block];
  const Buffer buffer = require_buffer(state, block, &args.buffer_index, kIsRead).buffer;
  return state.new_block_ref(
      add_tile_copy(state, {state[args.loop], block, buffer, kIsRead, args.storage_scope}));
}

}  // namespace tilewright::schedule
