// cache_inplace: a block changes a copy of a buffer, which is taken before and brought back after.
#include <algorithm>

#include "tilewright/schedule/core/edit.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/legality/block_checks.h"
#include "tilewright/schedule/transforms/buffers.h"
#include "tilewright/schedule/transforms/cache_stage.h"
#include "tilewright/schedule/transforms/loop_kind.h"
#include "tilewright/schedule/transforms/outer_regions.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

struct Args {
  BlockRef block;
  BufferArg read_buffer_index;
  std::string storage_scope;
  static constexpr std::string_view kRequired[] = {"storage_scope"};
  static constexpr auto fields() {
    return std::tuple{
        field<&Args::block>("block", "a block that reads and writes the buffer"),
        field<&Args::read_buffer_index>("read_buffer_index", "which of the buffers it reads"),
        field<&Args::storage_scope>("storage_scope", "of the copy: \"global\", \"local\", \"shared\", ...")};
  }
};

std::vector<BlockRef> apply(State& state, Args& args) {
  const NodeId block = state[args.block], scope = require_scope(state, block);
  const std::string& name = state.node(block).name;
  const Buffer buffer = require_buffer(state, block, &args.read_buffer_index, true).buffer;
  const BlockRealizeNode* realize = state.node(block).realize();
  const auto& writes = realize->block->writes;
  if (std::none_of(writes.begin(), writes.end(),
                   [&](const BufferRegion& write) { return write->buffer == buffer; }))
    throw refuse(state, block, "block {} reads {}, but does not write it", name, buffer->name)
        .help("cache_read makes a copy of what is only read");
  // what is read and what is written, at the place of the block
  arith::Analyzer analyzer;
  bind_loops_above(state, block, analyzer);
  std::optional<arith::IntervalRegion> touched;
  for (const Access& access : accesses_of(state, block)) {
    if (access.buffer != buffer) continue;
    const arith::IntervalRegion box = relaxed_unguarded(state, access, state.node(block).parent, analyzer);
    touched = touched ? arith::hull(*touched, box, analyzer) : box;
  }
  const Buffer cache = make_cache(buffer, args.storage_scope);
  const std::string copied = fresh_block_name(state, block, cache->name);
  const Span& place = realize->block->span;
  const Stage in = make_copy(copied, buffer, cache, *touched, place, analyzer);
  const Stage out =
      make_copy(fresh_block_name(state, block, copied + "_1"), cache, buffer, *touched, place, analyzer);
  const Block changed =
      substitute(realize->block, {{buffer.get(), cache}, {buffer->data.get(), cache->data}});
  Edit edit(state);
  const Stmt placed = with(realize, [&](BlockRealizeNode& n) { n.block = changed; });
  edit.forward(realize->block.get(), changed);
  edit.replace(block, seq({in.stmt, placed, out.stmt}));
  edit.edit_block(scope, [&](BlockNode& n) { n.alloc_buffers.push_back(cache); });
  State after = state;
  edit.commit(after, scope);
  complete_outer_regions(after, block);
  require_still_independent(after, block);
  state = std::move(after);
  return {state.new_block_ref(state.find(in.block.get(), scope)),
          state.new_block_ref(state.find(out.block.get(), scope))};
}

}  // namespace

extern constinit const PrimitiveInfo cache_inplace_info = primitive<apply>("cache_inplace", R"(
Lets a block that reads and writes a buffer work on a copy in another storage scope.

    A[vi] = A[vi] * 2    ->    A_local[v0] = A[v0]
                               A_local[vi] = A_local[vi] * 2
                               A[v0] = A_local[v0]                         cache_inplace(block, 0, "local")

block              reads and writes the buffer; its handle stays
read_buffer_index  which of the buffers it reads: its number, its name or the buffer
storage_scope      of the copy
Returns            the block that takes the copy and the block that brings it back, which stand directly around `block`
Raises             UserError if the block does not write the buffer, or if loops around it could not run in parallel any more.
)");
}  // namespace tilewright::schedule
