#include "tilewright/schedule/inline.h"

#include "tilewright/analysis/regions.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/coverage.h"
#include "tilewright/schedule/loops.h"
#include "tilewright/schedule/report.h"
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

void require_element_access(const State& state, NodeId owner, const Buffer& buffer) {
  bool is_plain = true;
  auto refuse_loads = [&](const PrimExpr& expr) {
    walk(expr, [&](const BufferLoadNode* load) {
      is_plain &= !may_alias(load->buffer, buffer);
      return true;
    });
  };
  walk(
      state.node(owner).block()->body,
      [&](const BlockRealizeNode* realize) {
        for (const PrimExpr& value : realize->iter_values) refuse_loads(value);
        refuse_loads(realize->predicate);
        return true;
      },
      [&](const ForNode* loop) {
        refuse_loads(loop->min), refuse_loads(loop->extent);
        return true;
      },
      [&](const MatchBufferRegionNode* match) {
        is_plain &= !may_alias(match->source->buffer, buffer);
        return true;
      },
      [&](const DeclBufferNode* view) {
        is_plain &= view->buffer->data != buffer->data;
        return true;
      },
      [&](const VarNode* var) {
        is_plain &= var != buffer->data.get();
        return true;
      });
  if (!is_plain)
    throw refuse(state, owner,
                 "buffer {} is also used through a view, its address, a loop bound or a block binding",
                 buffer->name);
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
      throw refuse(state, id, "{} {} the axes of block {}: {}", what, "does not determine", block->name_hint,
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

void require_order_free(const State& state, NodeId block, NodeId producer, const Buffer& buffer) {
  const NodeId scope = state.scope_of(block);
  for (const BufferRegion& read : state.node(block).block()->reads) {
    if (read->buffer == buffer) continue;
    for (NodeId writer : writers_of(state, scope, read->buffer)) {
      if (!is_before(state, writer, producer))
        throw refuse(state, writer, "block {} writes {}, which block {} reads, after block {}",
                     state.node(writer).name, read->buffer->name, state.node(block).name,
                     state.node(producer).name);
    }
  }
  for (const BufferRegion& write : state.node(block).block()->writes) {
    for (NodeId other : state.child_blocks(scope)) {
      if (other == block || is_before(state, block, other)) continue;
      for (const Access& access : accesses_of(state, other)) {
        if (may_alias(access.buffer, write->buffer))
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
  if (const Reason reason = why_not_bijective(state, block, scope, &domains); !reason.empty())
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
  // inner blocks first, so that regions found for the outer ones are those of what they have become
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
