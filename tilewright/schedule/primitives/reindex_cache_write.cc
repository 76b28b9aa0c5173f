// reindex_cache_write: a block writes to a buffer laid out as a map says, from which the result is copied.
#include "tilewright/schedule/buffers.h"
#include "tilewright/schedule/primitive.h"
#include "tilewright/schedule/reindex.h"

namespace tilewright::schedule {
namespace {

struct Args {
  BlockRef block;
  BufferArg write_buffer_index;
  std::string storage_scope;
  IndexMap index_map;
  static constexpr std::string_view kRequired[] = {"storage_scope"};
  static constexpr auto fields() {
    return std::tuple{
        field<&Args::block>("block", "the block that writes the buffer"),
        field<&Args::write_buffer_index>("write_buffer_index", "which of the buffers it writes"),
        field<&Args::storage_scope>("storage_scope",
                                    "of the new buffer: \"global\", \"local\", \"shared\", ..."),
        field<&Args::index_map>("index_map", "from the block's axes to the indices of the new buffer")};
  }
};

BlockRef apply(State& state, Args& args) {
  const NodeId block = state[args.block];
  const Buffer buffer = require_buffer(state, block, &args.write_buffer_index, false).buffer;
  ReindexArgs reindex{
      block,          buffer, false, args.storage_scope, buffer->name + "_" + args.storage_scope,
      args.index_map, false};
  return state.new_block_ref(add_reindexed_stage(state, reindex));
}

}  // namespace

extern constinit const PrimitiveInfo reindex_cache_write_info = primitive<apply>("reindex_cache_write", R"(
Makes a block write to a buffer in another storage scope, from which the result is copied; a map from the block's axes says
where an element is.

    B[vi, vj] = A[vi, vj] * 2    ->    B_local[vj, vi] = A[vi, vj] * 2
                                       B[v0, v1] = B_local[v1, v0]
                                                               reindex_cache_write(B, 0, "local", lambda i, j: (j, i))

block               writes one element of the buffer, at one place; its handle stays
write_buffer_index   which of the buffers it writes: its number, its name or the buffer
storage_scope       of the new buffer
index_map           takes all axes of the block; must be one to one on those that choose the element
Returns             the block that copies; it stands after the loops around `block` and has the axes that choose the element
Raises              UserError if the block writes several places of the buffer, if another block uses the
                    buffer inside of those loops, or writes it as well.
)");
}  // namespace tilewright::schedule
