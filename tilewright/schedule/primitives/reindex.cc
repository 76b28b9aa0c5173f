// reindex: a block accesses a buffer that is laid out by the block's own axes.
#include "tilewright/schedule/transforms/reindex.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/transforms/buffers.h"

namespace tilewright::schedule {
namespace {

struct Args {
  BlockRef block;
  BufferArg buffer;
  bool skip_simplify = false;
  static constexpr auto fields() {
    return std::tuple{field<&Args::block>("block", "the block that accesses the buffer"),
                      field<&Args::buffer>("buffer", "its name, (\"read\" | \"write\", number) or itself"),
                      field<&Args::skip_simplify>("skip_simplify", "give axes of extent 1 a dimension too")};
  }
};

BlockRef apply(State& state, Args& args) {
  const NodeId block = state[args.block];
  const BufferPlace place = require_buffer(state, block, &args.buffer);
  ReindexArgs reindex{
      block,   place.buffer,      place.is_read, place.buffer->scope(), place.buffer->name + "_reindex",
      nullptr, args.skip_simplify};
  return state.new_block_ref(add_reindexed_stage(state, reindex));
}

}  // namespace

extern constinit const PrimitiveInfo reindex_info = primitive<apply>("reindex", R"(
Makes a block access a copy of a buffer in which an element's indices are the block's own axes.

    B[vi, vj] = A[vj, vi] * 2    ->    A_reindex[v0, v1] = A[v1, v0]
                                       B[vi, vj] = A_reindex[vi, vj] * 2                   reindex(B, ("read", 0))

block          accesses one element of the buffer, at one place; its handle stays
buffer         its name, ("read" | "write", number) in the block's lists, or the buffer itself
skip_simplify  give axes of extent 1 a dimension too
Returns        the block that copies; it stands before (after) the loops around `block`
Raises         UserError if the block accesses several places of the buffer, or if another block uses the buffer inside of those
               loops, or writes it as well.
)");
}  // namespace tilewright::schedule
