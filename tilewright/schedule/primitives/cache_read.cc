// cache_read: consumers read a copy of a buffer in another storage scope.
#include <algorithm>

#include "tilewright/schedule/core/edit.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/legality/block_checks.h"
#include "tilewright/schedule/transforms/buffers.h"
#include "tilewright/schedule/transforms/cache_stage.h"
#include "tilewright/schedule/transforms/outer_regions.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

struct Args {
  BlockRef block;
  BufferArg read_buffer_index;
  std::string storage_scope;
  std::vector<BlockRef> consumer_blocks;
  static constexpr std::string_view kRequired[] = {"storage_scope"};
  static constexpr auto fields() {
    return std::tuple{
        field<&Args::block>("block", "a block that reads the buffer"),
        field<&Args::read_buffer_index>("read_buffer_index", "which of the buffers it reads"),
        field<&Args::storage_scope>("storage_scope", "of the copy: \"global\", \"local\", \"shared\", ..."),
        field<&Args::consumer_blocks>("consumer_blocks",
                                      "the blocks that read the copy; none given: all after its place")};
  }
};

std::vector<NodeId> consumers_to_change(const State& state, const Args& args, NodeId block, NodeId scope,
                                        const Buffer& buffer) {
  std::vector<NodeId> consumers;
  for (BlockRef ref : args.consumer_blocks) {
    const NodeId id = state[ref];
    const std::vector<NodeId> readers = readers_of(state, scope, buffer);
    if (std::find(readers.begin(), readers.end(), id) == readers.end())
      throw refuse(state, id, "block {} does not read {} beside block {}", state.node(id).name, buffer->name,
                   state.node(block).name);
    consumers.push_back(id);
  }
  return consumers.empty() ? readers_of(state, scope, buffer) : consumers;
}

BlockRef apply(State& state, Args& args) {
  const NodeId block = state[args.block], scope = require_scope(state, block);
  const Buffer buffer = require_buffer(state, block, &args.read_buffer_index, true).buffer;
  std::vector<NodeId> consumers = consumers_to_change(state, args, block, scope, buffer);
  const std::vector<NodeId> writers = writers_of(state, scope, buffer);
  if (args.consumer_blocks.empty()) {
    // consumers before a writer read an older value
    std::erase_if(consumers, [&](NodeId consumer) {
      return consumer != block && std::any_of(writers.begin(), writers.end(), [&](NodeId writer) {
               return is_before(state, consumer, writer);
             });
    });
  }
  // The copy is made after the last writer, in the innermost loop or block around all writers and consumers.
  NodeId around = writers.empty() ? scope : consumers[0];
  for (NodeId consumer : consumers) {
    for (NodeId writer : writers) {
      if (!is_before(state, writer, consumer))
        throw refuse(state, writer, "block {} writes {}, which block {} reads, not before it",
                     state.node(writer).name, buffer->name, state.node(consumer).name);
      around = common_ancestor(state, around, writer);
    }
    around = common_ancestor(state, around, consumer);
  }
  if (!state.node(around).is_loop() && around != scope) around = state.node(around).parent;

  arith::Analyzer analyzer;
  bind_loops_above(state, consumers[0], analyzer);
  std::optional<arith::IntervalRegion> needed;
  for (NodeId consumer : consumers) {
    for (const Access& access : accesses_of(state, consumer)) {
      if (access.is_write || access.buffer != buffer) continue;
      const arith::IntervalRegion box = relaxed_unguarded(state, access, around, analyzer);
      needed = needed ? arith::hull(*needed, box, analyzer) : box;
    }
  }
  const Buffer cache = make_cache(buffer, args.storage_scope);
  const Stage copy = make_copy(fresh_block_name(state, block, cache->name), buffer, cache, *needed,
                               span_of(state.node(block).realize()->block), analyzer);

  // With the consumers changed, the copy goes before the first of them.
  Edit edit(state);
  for (NodeId consumer : consumers) {
    const BlockRealizeNode* realize = state.node(consumer).realize();
    const Block changed = on_cache(realize->block, buffer, cache);
    edit.replace_block(consumer, with(realize, [&](BlockRealizeNode& n) { n.block = changed; }));
  }
  NodeId first = consumers[0];
  for (NodeId consumer : consumers) first = is_before(state, consumer, first) ? consumer : first;
  const NodeId child = child_towards(state, around, first);
  for (NodeId writer : writers) {
    if (state.is_inside(writer, child))
      throw refuse(state, writer, "block {} writes {} inside of loop {}, before which the copy would be made",
                   state.node(writer).name, buffer->name, state.node(child).name)
          .help("name the consumers inside of that loop as consumer_blocks");
  }
  const Stmt with_consumers = edit.build(child);
  edit.replace(child, seq({copy.stmt, with_consumers}));
  edit.edit_block(scope, [&](BlockNode& n) { n.alloc_buffers.push_back(cache); });
  edit.commit(state, scope);
  complete_outer_regions(state, consumers[0]);
  return state.new_block_ref(state.find(copy.block.get(), scope));
}

}  // namespace

extern constinit const PrimitiveInfo cache_read_info = primitive<apply>("cache_read", R"(
Makes consumers read a copy of a buffer in another storage scope.

    C[vi] = A[vi] * 2        ->        A_shared[v0] = A[v0]
                                       C[vi] = A_shared[vi] * 2                 cache_read(C, 0, "shared")

block              a block that reads the buffer
read_buffer_index  which of the buffers it reads, in the order of T.reads
storage_scope      of the copy
consumer_blocks    the blocks of the same scope that read the copy; none given: all that come after what writes the buffer
Returns            the block that copies; it stands before the first consumer
Raises             UserError if the buffer is written between the copy and a consumer.
)");
}  // namespace tilewright::schedule
