// compute_inline: what a block computes is computed again where it is read, and the block goes.
#include <algorithm>

#include "tilewright/schedule/core/edit.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/legality/coverage.h"
#include "tilewright/schedule/legality/dependence.h"
#include "tilewright/schedule/legality/same_iteration.h"
#include "tilewright/schedule/transforms/inline.h"
#include "tilewright/schedule/transforms/loop_kind.h"
#include "tilewright/schedule/transforms/outer_regions.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

struct Args {
  BlockRef block;
  static constexpr auto fields() {
    return std::tuple{field<&Args::block>("block", "a block that is one store into an intermediate buffer")};
  }
};

// The block would read the same values where its result is read.
void require_inputs_stay(const State& state, NodeId block, const Buffer& result,
                         const std::vector<NodeId>& consumers) {
  for (const Access& read : accesses_of(state, block)) {
    if (read.is_write) continue;
    for (NodeId writer : writers_of(state, state.scope_of(block), read.buffer)) {
      const bool may_meet = std::ranges::any_of(consumers, [&](NodeId consumer) {
        return may_meet_in_iteration(state, read, writer, common_ancestor(state, block, consumer));
      });
      if (!is_before(state, writer, block) && may_meet)
        throw refuse(state, writer, "block {} writes {}, which block {} reads, after it",
                     state.node(writer).name, read.buffer->name, state.node(block).name);
      const NodeId shared = common_ancestor(state, writer, block);
      if (!state.node(shared).is_loop()) continue;
      // The input changes with each iteration: results of earlier iterations must not be asked for.
      for (NodeId consumer : consumers) {
        const NodeId around = common_ancestor(state, block, consumer);
        const bool is_inside = state.is_inside(consumer, shared);
        if (!is_inside) require_not_rewritten(state, read, writer, around, shared);
        const NodeId carrying = is_inside ? shared : around;  // the innermost loop around all three
        if (!state.node(carrying).is_loop()) continue;
        for (const Access& access : accesses_of(state, consumer)) {
          if (!access.is_write && access.buffer == result && !is_covered_by_earlier(state, access, carrying))
            throw refuse(state, consumer,
                         "block {} may read elements of {} of an earlier iteration of loop {}, in which {} "
                         "was different",
                         state.node(consumer).name, result->name, state.node(carrying).name,
                         read.buffer->name);
        }
      }
    }
  }
}

void apply(State& state, const Args& args) {
  const NodeId block = state[args.block];
  const BufferStoreNode* store = require_single_store(state, block);
  require_pure_value(state, block, store);
  const Buffer buffer = store->buffer;
  if (const Objection reason = why_not_only_writer(state, block); !reason.empty())
    throw refuse(state, block, "block {} cannot be inlined: {}", state.node(block).name, reason);
  const NodeId owner = allocation_of(state, buffer, block), scope = state.scope_of(block);
  if (owner != scope)
    throw refuse(state, block, "block {} writes {}, which can be read outside of block {} around it",
                 state.node(block).name, buffer->name, state.node(scope).name);
  require_element_access(state, owner, buffer);
  const std::vector<NodeId> consumers = readers_of(state, owner, buffer, block);
  if (consumers.empty())
    throw refuse(state, block, "nothing reads what block {} writes", state.node(block).name);
  for (NodeId consumer : consumers) {
    if (consumer == block)
      throw refuse(state, block, "block {} reads what it writes", state.node(block).name);
    if (!is_before(state, block, consumer))
      throw refuse(state, consumer, "block {} reads {} before block {} writes it", state.node(consumer).name,
                   buffer->name, state.node(block).name);
  }
  require_inputs_stay(state, block, buffer, consumers);

  std::vector<PrimExpr> places;  // stand for the indices of a load
  for (const PrimExpr& index : store->indices) places.push_back(make_var("place", index->dtype));
  const Substitution axes = solve_indices(state, block, store->indices, places, "the index of the store");
  const PrimExpr value = substitute(store->value, axes);
  auto inline_loads = [&](const Stmt& stmt) {
    return rewrite(
        stmt,
        [&](auto& self, const BufferLoadNode* load) -> PrimExpr {
          const BufferLoad changed = self.children(load);
          if (load->buffer != buffer) return changed;
          Substitution at;
          for (size_t n = 0; n < places.size(); ++n)
            at[places[n].get()] = cast(places[n]->dtype, changed->indices[n]);
          return substitute(value, at);
        },
        [&](auto&, const BlockRealizeNode* done) -> Stmt { return Stmt(done); });
  };
  Edit edit(state);
  for (NodeId consumer : consumers) {
    BlockMap forwarded;
    edit.replace(consumer, with_changed_body(state.node(consumer).realize(), inline_loads, &forwarded));
    for (const auto& [from, to] : forwarded) edit.forward(from, to);
  }
  edit.remove(block);
  drop_regions(state, block, owner, buffer, &edit);
  for (NodeId consumer : consumers) drop_regions(state, consumer, owner, buffer, &edit);
  edit.edit_block(owner, [&](BlockNode& n) { std::erase(n.alloc_buffers, buffer); });
  std::vector<Buffer> inputs;
  for (const BufferRegion& read : state.node(block).block()->reads) inputs.push_back(read->buffer);
  State after = state;
  edit.commit(after, owner);
  for (NodeId consumer : consumers) complete_outer_regions(after, consumer);
  require_still_independent(after, scope, inputs);
  state = std::move(after);
}

}  // namespace

extern constinit const PrimitiveInfo compute_inline_info = primitive<apply>("compute_inline", R"(
Computes the result of a block again wherever it is read; the block and its buffer go.

    B[vi] = A[vi] * 2
    C[vi] = B[vi] + 1        ->        C[vi] = A[vi] * 2 + 1                     compute_inline(B)

block   one store into a buffer that is allocated in the function and written by nothing else; becomes stale
Raises  UserError if it is a reduction or more than one store, if nothing reads the result, or if what it reads changes
        before the result is read.
)");
}  // namespace tilewright::schedule
