#include "tilewright/schedule/transforms/reindex.h"

#include <algorithm>

#include "tilewright/analysis/block_info.h"
#include "tilewright/analysis/regions.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/core/edit.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/reduction.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/core/stage.h"
#include "tilewright/schedule/legality/block_checks.h"
#include "tilewright/schedule/legality/layout.h"
#include "tilewright/schedule/transforms/inline.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

// The indices with which the block accesses the buffer: all of its loads and stores must have the same.
std::vector<PrimExpr> require_one_place(const State& state, const ReindexArgs& args) {
  const BlockNode* block = state.node(args.block).block();
  walk(block->body, [&](const BlockNode*) {
    throw refuse(state, args.block, "block {} has blocks inside, whose accesses are looked at one by one",
                 block->name_hint);
  });
  std::vector<PrimExpr> indices;
  bool is_first = true;
  auto meet = [&](const Buffer& buffer, const std::vector<PrimExpr>& found) {
    if (buffer != args.buffer) return;
    if (is_first) indices = found;
    is_first = false;
    for (size_t n = 0; n < found.size(); ++n) {
      if (!structural_equal(found[n], indices[n]))
        throw refuse(state, args.block, "block {} accesses {} at different places, {} and {}",
                     block->name_hint, args.buffer->name, text(indices[n]), text(found[n]));
    }
  };
  for (const Stmt& part : {block->init, block->body}) {
    walk(
        part, [&](const BufferLoadNode* load) { meet(load->buffer, load->indices); },
        [&](const BufferStoreNode* store) { meet(store->buffer, store->indices); });
  }
  for (const PrimExpr& index : indices) {
    walk(index, [&](const VarNode* var) {
      const auto& axes = block->iter_vars;
      const bool is_known = std::any_of(axes.begin(), axes.end(), [&](const IterVar& axis) {
        return axis->var.get() == var || uses(axis->dom->extent, var);  // v // n, with an open extent n
      });
      if (!is_known)
        throw refuse(state, args.block, "index {} of {} uses {}, which is no axis of block {}", text(index),
                     args.buffer->name, var->name_hint, block->name_hint);
    });
  }
  if (is_first)
    throw refuse(state, args.block, "block {} accesses {} only through its regions", block->name_hint,
                 args.buffer->name);
  return indices;
}

// True if 0 <= index < extent.  v // m < n follows from v < n * m, and v % m < m, where m is open; a block runs only if
// its extents are above 0.
bool is_inside(const PrimExpr& index, const PrimExpr& extent, arith::Analyzer& analyzer) {
  if (analyzer.can_prove(index >= imm(0, index->dtype)) && analyzer.can_prove(index < extent)) return true;
  const auto* rest = index.as<FloorModNode>();
  if (rest && !is<IntImmNode>(rest->b)) return analyzer.can_prove_equal(rest->b, extent);
  const auto* whole = index.as<FloorDivNode>();
  return whole && !is<IntImmNode>(whole->b) && analyzer.can_prove(whole->a >= imm(0, whole->a->dtype)) &&
         analyzer.can_prove(whole->a < extent * whole->b);
}

// The copy accesses the element of every instance, whatever conditions the block has around its own access.
void require_unconditional(const State& state, const ReindexArgs& args,
                           const std::vector<PrimExpr>& indices) {
  const BlockRealizeNode* realize = state.node(args.block).realize();
  if (!args.is_read) {
    if (analysis::has_conditional_statements(realize->block->body))
      throw refuse(state, args.block, "block {} writes {} only under a condition", realize->block->name_hint,
                   args.buffer->name);
    return;
  }
  arith::Analyzer analyzer;
  bind_loops_above(state, args.block, analyzer);
  for (const IterVar& axis : realize->block->iter_vars) analyzer.bind(axis->var, axis->dom);
  for (size_t n = 0; n < indices.size(); ++n) {
    if (!is_inside(indices[n], args.buffer->shape[n], analyzer))
      throw refuse(state, args.block, "index {} of {} may be outside of its extent {} where block {} runs",
                   text(indices[n]), args.buffer->name, text(args.buffer->shape[n]),
                   realize->block->name_hint);
  }
}

// Axes of the block that choose the element, in the block's order.
std::vector<size_t> used_axes(const BlockNode* block, const std::vector<PrimExpr>& indices) {
  std::vector<size_t> found;
  for (size_t n = 0; n < block->iter_vars.size(); ++n) {
    if (std::any_of(indices.begin(), indices.end(),
                    [&](const PrimExpr& index) { return uses(index, block->iter_vars[n]->var.get()); }))
      found.push_back(n);
  }
  return found;
}

// The map that is asked for, as a map of the used axes alone.
IndexMap map_of_axes(const State& state, const ReindexArgs& args, const std::vector<size_t>& axes) {
  const BlockNode* block = state.node(args.block).block();
  std::vector<Var> vars;
  std::vector<PrimExpr> outputs;
  for (size_t axis : axes) {
    const IterVar& iter = block->iter_vars[axis];
    vars.push_back(make_var(iter->var->name_hint, iter->var->dtype));
    if (!args.index_map && (args.keep_unit_axes || !is_one(iter->dom->extent)))
      outputs.push_back(vars.back());
  }
  if (!args.index_map) {
    if (outputs.empty()) outputs.push_back(imm(0));
    return IndexMapNode::make(vars, outputs);
  }
  if (args.index_map->initial_indices.size() != block->iter_vars.size())
    throw refuse(state, args.block, "the map takes {} indices, but block {} has {} axes",
                 args.index_map->initial_indices.size(), block->name_hint, block->iter_vars.size());
  std::vector<PrimExpr> extents;
  for (const IterVar& iter : block->iter_vars) extents.push_back(iter->dom->extent);
  const IndexMap map = fit_map(args.index_map, extents);
  Substitution values;
  for (size_t n = 0; n < block->iter_vars.size(); ++n) {
    const Var& from = map->initial_indices[n];
    const auto position = std::find(axes.begin(), axes.end(), n);
    if (position != axes.end())
      values[from.get()] = cast(from->dtype, vars[static_cast<size_t>(position - axes.begin())]);
    else
      values[from.get()] = cast(from->dtype, block->iter_vars[n]->dom->min);
  }
  for (const PrimExpr& index : map->final_indices) outputs.push_back(substitute(index, values));
  return IndexMapNode::make(vars, outputs);
}

// The variable of a loop around `id` in its bounds for which `is_wanted`; null if there is none.
template <class IsWanted>
const VarNode* loop_var_in_bounds(const State& state, NodeId id, const IsWanted& is_wanted) {
  const ForNode* loop = state.node(id).loop();
  for (NodeId outer : state.loops_above(id)) {
    const VarNode* var = state.node(outer).loop()->loop_var.get();
    if ((uses(loop->min, var) || uses(loop->extent, var)) && is_wanted(var)) return var;
  }
  return nullptr;
}

// The copying block, in copies of the loops that choose the used axes.
Stage make_stage(const State& state, const ReindexArgs& args, const std::vector<PrimExpr>& indices,
                 const std::vector<size_t>& axes, const IndexMap& map, const Buffer& cache,
                 arith::Analyzer& analyzer) {
  const BlockRealizeNode* realize = state.node(args.block).realize();
  auto is_used = [&](const VarNode* var) {
    for (size_t axis : axes) {
      if (uses(realize->iter_values[axis], var)) return true;
    }
    return false;
  };
  Substitution values;
  std::vector<std::pair<Var, const ForNode*>> loops;
  for (NodeId id : state.loops_above(args.block)) {
    const ForNode* loop = state.node(id).loop();
    if (!is_used(loop->loop_var.get())) {
      if (uses(realize->predicate, loop->loop_var.get()))
        throw refuse(state, id, "whether block {} runs depends on loop {}, which chooses no element of {}",
                     state.node(args.block).name, state.node(id).name, args.buffer->name);
      continue;
    }
    const VarNode* outside = loop_var_in_bounds(state, id, [&](const VarNode* var) { return !is_used(var); });
    if (outside)
      throw refuse(state, id, "the bounds of loop {} depend on loop {}, which chooses no element of {}",
                   state.node(id).name, outside->name_hint, args.buffer->name);
    loops.emplace_back(make_var(fmt::format("ax{}", loops.size()), loop->loop_var->dtype), loop);
    values[loop->loop_var.get()] = loops.back().first;
  }
  std::vector<IterVar> iters;
  std::vector<PrimExpr> bindings, vars;
  Substitution renamed;
  for (size_t axis : axes) {
    const IterVar& iter = realize->block->iter_vars[axis];
    const Var var = make_var(fmt::format("v{}", iters.size()), iter->var->dtype);
    iters.push_back(IterVarNode::make(var, iter->dom, IterType::kSpatial, std::string()));
    bindings.push_back(substitute(realize->iter_values[axis], values));
    vars.push_back(var);
    renamed[iter->var.get()] = var;
  }
  std::vector<PrimExpr> place;
  for (const PrimExpr& index : indices) place.push_back(substitute(index, renamed));
  const std::vector<PrimExpr> cached = apply_map(map, vars, analyzer);
  const Stmt body = args.is_read ? store(cache, load(args.buffer, place), cached)
                                 : store(args.buffer, load(cache, cached), place);
  const Block block = new_block(args.name, iters, Stmt(), body, realize->block->span);
  Stmt stmt = new_stage(block, bindings, substitute(realize->predicate, values), {}).stmt;
  for (size_t n = loops.size(); n-- > 0;)
    stmt = with(loops[n].second, [&](ForNode& loop) {
      loop.loop_var = loops[n].first, loop.body = stmt;
      loop.min = substitute(loop.min, values), loop.extent = substitute(loop.extent, values);
      loop.for_kind = ForKind::kSerial, loop.thread_tag.clear(), loop.annotations = AttrMap();
    });
  return {block, stmt};
}

// All that touches the buffer is done before the copy is read, or begins after it is written.
void require_order(const State& state, const ReindexArgs& args, NodeId scope, NodeId child) {
  const std::string& name = state.node(args.block).name;
  for (NodeId writer : writers_of(state, scope, args.buffer)) {
    if (!args.is_read && writer == args.block) continue;
    if (!args.is_read)
      throw refuse(state, writer, "block {} writes {} as well", state.node(writer).name, args.buffer->name);
    if (state.is_inside(writer, child) || !is_before(state, writer, child))
      throw refuse(state, writer, "block {} writes {}, which block {} reads, not before the loops around it",
                   state.node(writer).name, args.buffer->name, name);
  }
  if (args.is_read) return;
  for (NodeId reader : readers_of(state, scope, args.buffer)) {
    if (reader == args.block) continue;  // of its own sum
    if (state.is_inside(reader, child) || !is_before(state, child, reader))
      throw refuse(state, reader, "block {} reads {}, which block {} writes, not after the loops around it",
                   state.node(reader).name, args.buffer->name, name);
  }
}

Block with_cache(const State& state, const ReindexArgs& args, const Buffer& cache,
                 const std::vector<PrimExpr>& cached) {
  const Block before = state.node(args.block).realize()->block;
  auto put = [&](const Stmt& part) {
    return rewrite(
        part,
        [&](auto& self, const BufferLoadNode* node) -> PrimExpr {
          if (node->buffer == args.buffer) return load(cache, cached);
          return self.children(node);
        },
        [&](auto& self, const BufferStoreNode* node) -> Stmt {
          const BufferStore inner = self.children(node);
          if (node->buffer == args.buffer) return store(cache, inner->value, cached);
          return inner;
        });
  };
  const Block changed = with(before, [&](BlockNode& n) {
    n.body = put(n.body);
    if (n.init) n.init = put(n.init);
  });
  const analysis::AccessRegions regions = analysis::access_regions(changed);
  return with(changed, [&](BlockNode& n) { n.reads = regions.reads, n.writes = regions.writes; });
}

}  // namespace

NodeId add_reindexed_stage(State& state, const ReindexArgs& args) {
  const NodeId scope = require_scope(state, args.block);
  const BlockRealizeNode* realize = state.node(args.block).realize();
  const std::vector<PrimExpr> indices = require_one_place(state, args);
  require_element_access(state, scope, args.buffer);
  if (!args.is_read) {
    for (const Objection& reason :
         {why_not_one_to_one(state, args.block), why_not_whole_sum(state, args.block)}) {
      if (!reason.empty())
        throw refuse(state, args.block, "block {} cannot write elsewhere: {}", state.node(args.block).name,
                     reason);
    }
    if (const Objection reason = why_not_apart(state, args.block, args.buffer); !reason.empty())
      throw refuse(state, args.block, "{}", reason);
  } else {
    for (const BufferRegion& write : realize->block->writes) {
      if (may_alias(write->buffer, args.buffer))
        throw refuse(state, args.block, "block {} writes {}, which it also reads", realize->block->name_hint,
                     args.buffer->name);
    }
  }
  require_unconditional(state, args, indices);
  const NodeId child = child_towards(state, scope, args.block);
  require_order(state, args, scope, child);
  if (!args.is_read) require_unaligned(state, args.block, args.buffer);
  const std::vector<size_t> axes = used_axes(realize->block.get(), indices);
  const IndexMap map = map_of_axes(state, args, axes);
  std::vector<PrimExpr> extents;
  arith::Analyzer analyzer;
  bind_loops_above(state, args.block, analyzer);
  std::vector<PrimExpr> vars;
  for (size_t axis : axes) {
    const IterVar& iter = realize->block->iter_vars[axis];
    analyzer.bind(iter->var, iter->dom);
    extents.push_back(analyzer.simplify(iter->dom->min + iter->dom->extent));
    vars.push_back(iter->var);
  }
  const MappedSpace space = require_one_to_one(state, args.block, map, extents, args.buffer->name);
  const Buffer cache = make_buffer(args.name, space.shape, args.buffer->dtype, args.storage_scope);
  const Stage stage = make_stage(state, args, indices, axes, map, cache, analyzer);
  const Block changed = with_cache(state, args, cache, apply_map(map, vars, analyzer));
  Edit inside(state), edit(state);
  const BlockRealize placed = with(realize, [&](BlockRealizeNode& n) { n.block = changed; });
  inside.replace_block(args.block, placed);
  edit.forward(realize->block.get(), changed);
  const Stmt nest = inside.build(child);
  edit.replace(child, args.is_read ? seq({stage.stmt, nest}) : seq({nest, stage.stmt}));
  edit.edit_block(scope, [&](BlockNode& n) { n.alloc_buffers.push_back(cache); });
  edit.commit(state, scope);
  return state.find(stage.block.get(), args.block);
}

}  // namespace tilewright::schedule
