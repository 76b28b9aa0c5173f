// cache_write: a block writes to a buffer in another storage scope, from which the result is copied.
#include <algorithm>

#include "tilewright/schedule/core/edit.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/reduction.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/legality/block_checks.h"
#include "tilewright/schedule/legality/coverage.h"
#include "tilewright/schedule/transforms/buffers.h"
#include "tilewright/schedule/transforms/cache_stage.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

struct Args {
  BlockRef block;
  BufferArg write_buffer_index;
  std::string storage_scope;
  std::vector<BlockRef> consumer_blocks;
  static constexpr std::string_view kRequired[] = {"storage_scope"};
  static constexpr auto fields() {
    return std::tuple{
        field<&Args::block>("block", "the only block that writes the buffer"),
        field<&Args::write_buffer_index>("write_buffer_index", "which of the buffers it writes"),
        field<&Args::storage_scope>("storage_scope",
                                    "of the new buffer: \"global\", \"local\", \"shared\", ..."),
        field<&Args::consumer_blocks>("consumer_blocks",
                                      "blocks that read the new buffer instead of the old one")};
  }
};

// The innermost loop (or `scope`) that the block shares with one of the readers: the copy is made in it, so
// that every reader sees the result where it is.
NodeId innermost_shared(const State& state, NodeId block, NodeId scope, const std::vector<NodeId>& readers) {
  NodeId innermost = scope;
  for (NodeId reader : readers) {
    const NodeId shared = common_ancestor(state, block, reader);
    if (common_ancestor(state, shared, innermost) == innermost) innermost = shared;
  }
  return innermost;
}

BlockRef apply(State& state, Args& args) {
  const NodeId block = state[args.block], scope = require_scope(state, block);
  const std::string& name = state.node(block).name;
  const Buffer buffer = require_buffer(state, block, &args.write_buffer_index, false).buffer;
  for (NodeId writer : writers_of(state, scope, buffer)) {
    if (writer != block)
      throw refuse(state, writer, "block {} writes {} as well", state.node(writer).name, buffer->name);
  }
  if (const Objection reason = why_not_apart(state, block, buffer); !reason.empty())
    throw refuse(state, block, "{}", reason);
  if (const Objection reason = why_not_whole_sum(state, block); !reason.empty())
    throw refuse(state, block, "block {} cannot write elsewhere: {}", name, reason);
  std::vector<NodeId> readers = readers_of(state, scope, buffer);
  std::erase(readers, block);  // of its own sum
  for (NodeId reader : readers) {
    if (!is_before(state, block, reader))
      throw refuse(state, reader, "block {} reads {} before block {} writes it", state.node(reader).name,
                   buffer->name, name);
  }
  const NodeId around = innermost_shared(state, block, scope, readers);
  arith::Analyzer analyzer;
  bind_loops_above(state, block, analyzer);
  std::optional<arith::IntervalRegion> written;
  for (const Access& access : accesses_of(state, block)) {
    if (access.is_write && access.buffer == buffer) written = relaxed(state, access, around, analyzer);
  }
  written = arith::intersect(*written, arith::to_intervals(full_region(buffer)->region), analyzer);
  if (!surely_writes(state, block, buffer, *written, around))
    throw refuse(state, block, "block {} may leave elements of {} unwritten, which a copy would overwrite",
                 name, buffer->name);

  const Buffer cache = make_cache(buffer, args.storage_scope);
  const Stage copy = make_copy(fresh_block_name(state, block, cache->name), cache, buffer, *written,
                               span_of(state.node(block).realize()->block), analyzer);
  Edit edit(state);
  std::vector<NodeId> changed = {block};
  for (BlockRef ref : args.consumer_blocks) {
    if (std::find(readers.begin(), readers.end(), state[ref]) == readers.end())
      throw refuse(state, state[ref], "block {} does not read {} beside block {}",
                   state.node(state[ref]).name, buffer->name, name);
    changed.push_back(state[ref]);
  }
  for (NodeId id : changed) {
    const BlockRealizeNode* realize = state.node(id).realize();
    const Block by = on_cache(realize->block, buffer, cache);
    if (id == block) require_no_pointer(state, block, by, buffer);
    edit.replace_block(id, with(realize, [&](BlockRealizeNode& n) { n.block = by; }));
  }
  const NodeId child = child_towards(state, around, block);
  const Stmt with_block = edit.build(child);
  edit.replace(child, seq({with_block, copy.stmt}));
  edit.edit_block(scope, [&](BlockNode& n) { n.alloc_buffers.push_back(cache); });
  edit.commit(state, scope);
  return state.new_block_ref(state.find(copy.block.get(), scope));
}

}  // namespace

extern constinit const PrimitiveInfo cache_write_info = primitive<apply>("cache_write", R"(
Makes a block write to a buffer in another storage scope, and copies the result from there.

    C[vi] = A[vi] * 2        ->        C_local[vi] = A[vi] * 2
                                       C[v0] = C_local[v0]                       cache_write(C, 0, "local")

block               the only block that writes the buffer; its handle stays
write_buffer_index  which of the buffers it writes, in the order of T.writes
storage_scope       of the new buffer
consumer_blocks     blocks that read the new buffer; the others read the old one
Returns             the block that copies
Raises              UserError if another block writes the buffer, if the block reads it, or if it may leave elements unwritten.
)");
}  // namespace tilewright::schedule
