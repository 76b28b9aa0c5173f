#include "tilewright/schedule/transforms/inline.h"

#include "tilewright/analysis/regions.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/legality/coverage.h"
#include "tilewright/schedule/legality/dependence.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"

namespace tilewright::schedule {

const BufferStoreNode* require_single_store(const State& state, NodeId id) {
  const BlockNode* block = state.node(id).block();
  if (block->init) throw refuse(state, id, "block {} is a reduction", block->name_hint);
  for (const IterVar& axis : block->iter_vars) {
    if (axis->iter_type != IterType::kSpatial)
      throw refuse(state, id, "axis {} of block {} is not spatial", axis->var->name_hint, block->name_hint);
  }
  const auto* store = block->body.as<BufferStoreNode>();
  if (!store || store->predicate || !block->match_buffers.empty() || !block->alloc_buffers.empty())
    throw refuse(state, id, "block {} is not a single store", block->name_hint);
  return store;
}

void require_pure_value(const State& state, NodeId id, const BufferStoreNode* store) {
  const BlockNode* block = state.node(id).block();
  walk(store->value, [&](const CallNode* call) {
    if (!is_pure(call->op))
      throw refuse(state, id, "block {} calls {}, which has an effect", block->name_hint, text(Call(call)));
  });
  for (NodeId outer = state.node(id).parent; outer != kNoNode; outer = state.node(outer).parent) {
    const ForNode* loop = state.node(outer).loop();
    if (!loop) continue;
    walk(block->body, [&](const VarNode* var) {
      if (var == loop->loop_var.get())
        throw refuse(state, id, "block {} uses loop {} directly", block->name_hint, var->name_hint);
    });
  }
}

namespace {

// A view of the buffer, or its address, in a loop or block but not in the loops and blocks inside of it.
bool takes_whole(const TreeNode& node, const Buffer& buffer) {
  bool found = false;
  Stmt init, body;
  if (const BlockNode* block = node.block()) {
    for (const MatchBufferRegion& match : block->match_buffers)
      found |= may_alias(match->source->buffer, buffer);
    init = block->init, body = block->body;
  } else {
    body = node.loop()->body;
  }
  for (const Stmt& part : {init, body}) {
    walk(
        part, [&](const BlockRealizeNode*) { return false; }, [&](const ForNode*) { return false; },
        [&](const DeclBufferNode* view) {
          found |= view->buffer->data == buffer->data;
          return true;
        },
        [&](const VarNode* var) {
          found |= var == buffer->data.get();
          return true;
        });
  }
  return found;
}

// The same for one loop or block, without the loops and blocks inside of it.
void require_element_access_at(const State& state, NodeId id, const Buffer& buffer) {
  const TreeNode& node = state.node(id);
  if (const ForNode* loop = node.loop()) {
    if (loads_from(loop->min, buffer) || loads_from(loop->extent, buffer))
      throw refuse(state, id, "the bounds of loop {} read {}", node.name, buffer->name);
  }
  if (node.takes_addresses && takes_whole(node, buffer)) {
    const NodeId block = node.is_loop() ? state.scope_of(id) : id;
    throw refuse(state, block, "block {} uses {} through a view or its address", state.node(block).name,
                 buffer->name);
  }
}

}  // namespace

void require_element_access(const State& state, NodeId owner, const Buffer& buffer) {
  require_element_access_at(state, owner, buffer);
  for (NodeId id : with_ways_to(state, owner, state.users_of(buffer, owner))) {
    if (const BlockRealizeNode* realize = state.node(id).realize()) {
      bool is_read = loads_from(realize->predicate, buffer);
      for (const PrimExpr& value : realize->iter_values) is_read |= loads_from(value, buffer);
      if (is_read)
        throw refuse(state, id, "the axes or the condition of block {} read {}", state.node(id).name,
                     buffer->name);
    }
    require_element_access_at(state, id, buffer);
  }
}

Substitution solve_indices(const State& state, NodeId id, const std::vector<PrimExpr>& indices,
                           const std::vector<PrimExpr>& outputs, const std::string& what) {
  const BlockNode* block = state.node(id).block();
  Substitution values;
  arith::Analyzer analyzer;
  arith::IterRanges axes;
  for (const IterVar& axis : block->iter_vars) {
    analyzer.bind(axis->var, axis->dom);
    axes.emplace_back(axis->var, axis->dom);
  }
  bool is_simple = true;
  for (size_t n = 0; n < indices.size(); ++n) {
    const auto* var = indices[n].as<VarNode>();
    if (var && values.try_emplace(var, cast(var->dtype, outputs[n])).second) continue;
    if (!is<IntImmNode>(indices[n])) is_simple = false;
  }
  if (!is_simple) {
    values.clear();
    const arith::IterMap map =
        arith::detect_iter_map(indices, axes, bool_imm(true), arith::IterMapLevel::kInjective, analyzer);
    if (!map)
      throw refuse(state, id, "{} does not determine the axes of block {}: {}", what, block->name_hint,
                   map.reason);
    for (auto& [var, value] : arith::inverse_affine_iter_map(map, outputs, analyzer))
      values[var.get()] = value;
  }
  for (const IterVar& axis : block->iter_vars) {
    if (values.contains(axis->var.get())) continue;
    if (!is_one(analyzer.simplify(axis->dom->extent)))
      throw refuse(state, id, "{} does not determine axis {} of block {}", what, axis->var->name_hint,
                   block->name_hint);
    values[axis->var.get()] = axis->dom->min;
  }
  return values;
}

std::vector<PrimExpr> require_one_index(const State& state, NodeId block, const BufferStoreNode* store,
                                        const Buffer& buffer) {
  std::vector<PrimExpr> indices;
  bool is_first = true;
  walk(store->value, [&](const BufferLoadNode* load) {
    if (load->buffer != buffer) return true;
    if (is_first) indices = load->indices;
    for (size_t n = 0; n < indices.size(); ++n) {
      if (!structural_equal(indices[n], load->indices[n]))
        throw refuse(state, block, "block {} reads {} at different places", state.node(block).name,
                     buffer->name);
    }
    is_first = false;
    return true;
  });
  if (is_first)
    throw refuse(state, block, "block {} reads {} only in an index", state.node(block).name, buffer->name);
  return indices;
}

namespace {
// True if `block` reads of `buffer` what `producer` writes in the same iteration of the loops around both.
bool runs_with(const State& state, NodeId block, NodeId producer, const Buffer& buffer) {
  const NodeId around = common_ancestor(state, block, producer);
  if (!state.node(around).is_loop()) return true;
  for (const Access& read : accesses_of(state, block)) {
    if (read.is_write || read.buffer != buffer) continue;
    for (const Access& write : accesses_of(state, producer)) {
      if (write.is_write && write.buffer == buffer &&
          loop_that_rewrites(state, read, write, state.scope_of(block), around))
        return false;
    }
  }
  return true;
}
}  // namespace

void require_order_free(const State& state, NodeId block, NodeId producer, const Buffer& buffer) {
  const NodeId scope = state.scope_of(block);
  const bool same_iteration = runs_with(state, block, producer, buffer);
  // True if `first` is before `second` in every iteration of the loops around either of them.
  auto in_order = [&](NodeId first, NodeId second) {
    if (!is_before(state, first, second)) return false;
    const NodeId shared = common_ancestor(state, first, second);
    return shared == scope ||
           (same_iteration && state.is_inside(common_ancestor(state, block, producer), shared));
  };
  for (const BufferRegion& read : state.node(block).block()->reads) {
    if (read->buffer == buffer) continue;
    for (NodeId writer : writers_of(state, scope, read->buffer)) {
      if (!is_before(state, writer, producer))
        throw refuse(state, writer, "block {} writes {}, which block {} reads, after block {}",
                     state.node(writer).name, read->buffer->name, state.node(block).name,
                     state.node(producer).name);
      if (!in_order(writer, producer))
        throw refuse(
            state, writer,
            "block {} writes {}, which block {} reads, also after block {} in a later iteration of loop {}",
            state.node(writer).name, read->buffer->name, state.node(block).name, state.node(producer).name,
            state.node(common_ancestor(state, writer, producer)).name);
    }
  }
  for (const BufferRegion& write : state.node(block).block()->writes) {
    for (NodeId other : users_beside(state, scope, write->buffer)) {
      if (other == block) continue;
      if (in_order(block, other) || in_order(other, producer)) continue;
      for (const Access& access : accesses_of(state, other)) {
        if (!may_alias(access.buffer, write->buffer)) continue;
        if (is_before(state, block, other))
          throw refuse(state, other,
                       "block {} uses {}, which block {} writes, in loop {}, which it would leave",
                       state.node(other).name, write->buffer->name, state.node(block).name,
                       state.node(common_ancestor(state, block, other)).name);
        throw refuse(state, other, "block {} uses {}, which block {} writes, before it",
                     state.node(other).name, write->buffer->name, state.node(block).name);
      }
    }
  }
}

void require_all_written(const State& state, NodeId block, NodeId producer, const Buffer& buffer) {
  const NodeId scope = state.scope_of(block);
  for (const Access& read : accesses_of(state, block)) {
    if (read.is_write || read.buffer != buffer) continue;
    arith::Analyzer analyzer;
    bind_loops_above(state, block, analyzer);
    if (!surely_writes(state, producer, buffer, relaxed(state, read, scope, analyzer), scope,
                       runs_where(state, block, scope)))
      throw refuse(state, block, "block {} may read elements of {} that block {} does not write",
                   state.node(block).name, buffer->name, state.node(producer).name);
  }
}

std::vector<Range> require_bijective(const State& state, NodeId block) {
  std::vector<Range> domains;
  const NodeId scope = state.scope_of(block);
  if (const Objection reason = why_not_bijective(state, block, scope, &domains); !reason.empty())
    throw refuse(state, block, "block {} cannot be inlined: {}", state.node(block).name, reason);
  return domains;
}

void drop_regions(const State& state, NodeId block, NodeId owner, const Buffer& buffer, Edit* edit) {
  for (NodeId id = state.scope_of(block); id != owner; id = state.scope_of(id)) {
    edit->edit_block(id, [buffer](BlockNode& n) {
      for (auto* regions : {&n.reads, &n.writes})
        std::erase_if(*regions, [&](const BufferRegion& region) { return region->buffer == buffer; });
    });
  }
}

BlockRealize with_changed_body(const BlockRealizeNode* realize, const std::function<Stmt(const Stmt&)>& edit,
                               BlockMap* forwarded) {
  const BlockNode* block = realize->block.get();
  // inner blocks first, so that the regions of outer ones follow from their new bodies
  const Stmt inner = rewrite(block->body, [&](auto&, const BlockRealizeNode* child) -> Stmt {
    return with_changed_body(child, edit, forwarded);
  });
  const Stmt body = edit(inner), init = block->init ? edit(block->init) : Stmt();
  if (body == block->body && init == block->init) return BlockRealize(realize);
  Block changed = with(block, [&](BlockNode& n) { n.body = body, n.init = init; });
  const analysis::AccessRegions regions = analysis::access_regions(changed);
  changed = with(changed, [&](BlockNode& n) { n.reads = regions.reads, n.writes = regions.writes; });
  (*forwarded)[block] = changed;
  return with(realize, [&](BlockRealizeNode& n) { n.block = changed; });
}

}  // namespace tilewright::schedule
