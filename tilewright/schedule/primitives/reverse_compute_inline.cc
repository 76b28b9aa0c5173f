// reverse_compute_inline: a consumer is computed by its only producer, and the buffer between them goes.
#include "tilewright/analysis/regions.h"
#include "tilewright/schedule/core/edit.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/transforms/inline.h"
#include "tilewright/schedule/transforms/outer_regions.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

struct Args {
  BlockRef block;
  static constexpr auto fields() {
    return std::tuple{
        field<&Args::block>("block", "a block that is one store and the only reader of its producer")};
  }
};

struct Producer {
  NodeId block;
  Buffer buffer;
};

// The intermediate buffer that only `block` reads, and its producer; of several, the last one in the program,
// where the others have been computed.
Producer require_producer(const State& state, NodeId block) {
  std::vector<Producer> found;
  std::string reason = fmt::format("block {} reads no intermediate buffer", state.node(block).name);
  for (const BufferRegion& read : state.node(block).block()->reads) {
    const Buffer& buffer = read->buffer;
    const NodeId owner = allocation_of(state, buffer, state.node(block).parent);
    if (owner == kNoNode) continue;
    const std::vector<NodeId> writers = writers_of(state, owner, buffer, block),
                              readers = readers_of(state, owner, buffer, block);
    if (writers.size() != 1)
      reason = fmt::format("{} blocks write {}", writers.size(), buffer->name);
    else if (readers.size() != 1)
      reason = fmt::format("{} blocks read {}", readers.size(), buffer->name);
    else if (state.scope_of(writers[0]) != state.scope_of(block))
      reason = fmt::format("block {} is not in the same scope", state.node(writers[0]).name);
    else if (state.node(writers[0]).block()->init ||
             !is<BufferStoreNode>(state.node(writers[0]).block()->body))
      reason = fmt::format("block {} is not a single store, but a {}", state.node(writers[0]).name,
                           state.node(writers[0]).block()->init
                               ? "reduction, whose result is complete only at its end"
                               : "larger program");
    else
      found.push_back({writers[0], buffer});
  }
  if (found.empty())
    throw refuse(state, block, "block {} cannot be inlined into a producer: {}", state.node(block).name,
                 reason);
  Producer last = found[0];
  for (const Producer& each : found) last = is_before(state, last.block, each.block) ? each : last;
  return last;
}

void apply(State& state, const Args& args) {
  const NodeId block = state[args.block];
  const BufferStoreNode* store = require_single_store(state, block);
  require_pure_value(state, block, store);
  const auto [producer, buffer] = require_producer(state, block);
  const BufferStoreNode* source = require_single_store(state, producer);
  require_element_access(state, allocation_of(state, buffer, block), buffer);
  const std::vector<Range> domains = require_bijective(state, block);
  require_bijective(state, producer);
  for (NodeId each : {block, producer}) {
    if (const Objection reason = why_not_reorderable(state, each); !reason.empty())
      throw refuse(state, each, "block {} cannot be inlined: {}", state.node(block).name, reason);
  }
  require_all_written(state, block, producer, buffer);
  require_order_free(state, block, producer, buffer);
  const std::vector<PrimExpr> read_at = require_one_index(state, block, store, buffer);
  const Substitution axes =
      solve_indices(state, block, read_at, source->indices, fmt::format("the index of {}", buffer->name));

  // Elements of the buffer that the consumer does not read are not computed any more.
  const BlockRealizeNode* realize = state.node(producer).realize();
  arith::Analyzer analyzer;
  for (const IterVar& axis : realize->block->iter_vars) analyzer.bind(axis->var, axis->dom);
  PrimExpr guard = bool_imm(true);
  auto add = [&](const PrimExpr& condition) {
    const PrimExpr simple = analyzer.simplify(condition);
    if (!is_one(simple)) guard = is_one(guard) ? simple : logical_and(guard, simple);
  };
  for (size_t n = 0; n < domains.size(); ++n) {
    const IterVar& axis = state.node(block).block()->iter_vars[n];
    const PrimExpr value = ref_as<PrimExprNode>(axes.at(axis->var.get()));
    add(value >= domains[n]->min);
    add(value < domains[n]->min + domains[n]->extent);
  }
  for (size_t n = 0; n < read_at.size(); ++n) add(equal(substitute(read_at[n], axes), source->indices[n]));

  auto put_value = [&](const PrimExpr& expr) {
    return rewrite(expr, [&](auto& self, const BufferLoadNode* load) -> PrimExpr {
      if (load->buffer == buffer) return source->value;
      return self.children(load);
    });
  };
  std::vector<PrimExpr> indices;
  for (const PrimExpr& index : store->indices) indices.push_back(analyzer.simplify(substitute(index, axes)));
  const Stmt fused = BufferStoreNode::make(store->buffer, put_value(substitute(store->value, axes)), indices);
  Block result = with(realize->block, [&](BlockNode& n) { n.body = fused; });
  const analysis::AccessRegions regions = analysis::access_regions(result);
  result = with(result, [&](BlockNode& n) { n.reads = regions.reads, n.writes = regions.writes; });
  Substitution bindings;
  for (size_t n = 0; n < realize->iter_values.size(); ++n)
    bindings[realize->block->iter_vars[n]->var.get()] = realize->iter_values[n];
  arith::Analyzer outside;
  bind_loops_above(state, producer, outside);
  const PrimExpr condition = outside.simplify(substitute(guard, bindings));
  const NodeId owner = allocation_of(state, buffer, block);
  Edit edit(state);
  edit.replace_block(producer, with(realize, [&](BlockRealizeNode& n) {
                       n.block = result;
                       if (!is_one(condition))
                         n.predicate = is_one(n.predicate) ? condition : logical_and(n.predicate, condition);
                     }));
  edit.remove(block);
  edit.edit_block(owner, [&, gone = buffer](BlockNode& n) { std::erase(n.alloc_buffers, gone); });
  drop_regions(state, block, owner, buffer, &edit);
  edit.commit(state, owner);
  complete_outer_regions(state, producer);
}

}  // namespace

extern constinit const PrimitiveInfo reverse_compute_inline_info =
    primitive<apply>("reverse_compute_inline", R"(
Lets the only producer of a block's input compute the block's result; the block and the buffer between them go.

    B[vi] = A[vi] * 2
    C[vi] = B[vi] + 1        ->        C[vi] = A[vi] * 2 + 1                     reverse_compute_inline(C)

block   one store, the only reader of an intermediate buffer; becomes stale; the producer's handle stays
Raises  UserError if the producer is a reduction or not a single store, if other blocks read the buffer, if the place that is
        read does not determine the block's axes, or if what the block reads is written later.
)");
}  // namespace tilewright::schedule
