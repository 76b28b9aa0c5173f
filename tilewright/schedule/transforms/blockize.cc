#include "tilewright/schedule/transforms/blockize.h"

#include "tilewright/analysis/regions.h"
#include "tilewright/schedule/core/access.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/core/stage.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

// The two halves of a block's axes.
struct Halves {
  std::vector<IterVar> outer_axes, inner_axes;
  std::vector<PrimExpr> outer_values, inner_values;
  Substitution axis_values;  // old axis -> outer * extent + inner
  bool has_outer_reduction = false;
};

Halves divide_axes(const BlockRealizeNode* realize, const arith::SubspaceDivision& division,
                   bool preserve_unit_iters, arith::Analyzer& analyzer) {
  Halves halves;
  for (size_t n = 0; n < division.bindings.size(); ++n) {
    const arith::DividedBinding& part = division.bindings[n];
    const IterVar& axis = realize->block->iter_vars[n];
    const bool has_inner = !is_one(part.inner_extent),
               has_outer = !is_one(part.outer_extent) || preserve_unit_iters;
    PrimExpr value;
    if (has_outer || !has_inner) {
      Var var = make_var(axis->var->name_hint + "_o", axis->var->dtype);
      halves.outer_axes.push_back(IterVarNode::make(var, make_range(part.outer_min, part.outer_extent),
                                                    axis->iter_type, std::string()));
      halves.outer_values.push_back(part.outer);
      halves.has_outer_reduction |= axis->iter_type == IterType::kReduce;
      value = has_inner ? PrimExpr(var) * part.inner_extent : PrimExpr(var);
    } else {
      value = part.outer_min * part.inner_extent;
    }
    if (has_inner) {
      Var var = make_var(axis->var->name_hint + "_i", axis->var->dtype);
      halves.inner_axes.push_back(IterVarNode::make(var, make_range(imm(0, var->dtype), part.inner_extent),
                                                    axis->iter_type, std::string()));
      halves.inner_values.push_back(part.inner);
      value = value + var;
    }
    halves.axis_values[axis->var.get()] = analyzer.simplify(value);
  }
  return halves;
}

// A sum is initialised where its axes start; a tile that begins later may not do that again.
void require_starts(const State& state, NodeId id, const arith::SubspaceDivision& division,
                    arith::Analyzer& analyzer) {
  const BlockNode* block = state.node(id).block();
  for (size_t n = 0; n < division.bindings.size() && block->init; ++n) {
    const arith::DividedBinding& part = division.bindings[n];
    const IterVar& axis = block->iter_vars[n];
    if (axis->iter_type == IterType::kReduce &&
        !analyzer.can_prove_equal(part.outer_min * part.inner_extent, axis->dom->min))
      throw refuse(state, id, "reduce axis {} of block {} begins at {} there, not at {}, where its init runs",
                   axis->var->name_hint, block->name_hint,
                   text(analyzer.simplify(part.outer_min * part.inner_extent)), text(axis->dom->min));
  }
}

// The range of an axis is the same in each instance of the block around it, and outside of all loops.
void require_fixed_domains(const State& state, NodeId block, const Halves& halves) {
  for (const std::vector<IterVar>& axes : {halves.outer_axes, halves.inner_axes}) {
    for (const IterVar& axis : axes) {
      for (NodeId id : state.loops_above(block)) {
        const VarNode* var = state.node(id).loop()->loop_var.get();
        if (uses(axis->dom->min, var) || uses(axis->dom->extent, var))
          throw refuse(state, block, "axis {} of block {} would have {} values, which depends on loop {}",
                       axis->var->name_hint, state.node(block).name, text(axis->dom->extent), var->name_hint);
      }
    }
  }
}

std::vector<BufferRegion> relaxed_regions(const std::vector<BufferRegion>& regions,
                                          const Substitution& values, const std::vector<IterVar>& axes,
                                          arith::Analyzer& analyzer) {
  arith::Domains domains;
  for (const IterVar& axis : axes) {
    domains[axis->var.get()] = arith::Interval::of(axis->dom);
    analyzer.bind(axis->var, axis->dom);
  }
  std::vector<BufferRegion> result;
  for (const BufferRegion& region : regions) {
    const BufferRegion placed = substitute(without_loads(region), values);
    const arith::IntervalRegion box = arith::eval_region(placed->region, domains, analyzer);
    std::vector<Range> ranges;
    for (size_t n = 0; n < box.size(); ++n) {
      if (!box[n].is_bounded())
        ranges.push_back(full_region(region->buffer)->region[n]);
      else
        ranges.push_back(
            make_range(analyzer.simplify(box[n].min), analyzer.simplify(box[n].max - box[n].min + 1)));
    }
    result.push_back(BufferRegionNode::make(region->buffer, ranges));
  }
  return result;
}

// The init of the whole tile: the inner loops that feed spatial axes around a block of the old init.
Stmt make_init(const BlockRealizeNode* realize, const Halves& halves,
               const std::vector<const ForNode*>& loops, const PrimExpr& predicate,
               arith::Analyzer& analyzer) {
  Substitution values;
  std::vector<std::pair<const ForNode*, Var>> kept;
  for (const ForNode* loop : loops) {
    bool is_spatial = false;
    for (size_t n = 0; n < halves.inner_axes.size(); ++n)
      is_spatial |=
          halves.inner_axes[n]->iter_type != IterType::kReduce &&
          substitute(halves.inner_values[n], {{loop->loop_var.get(), loop->min}}) != halves.inner_values[n];
    if (!is_spatial) {
      values[loop->loop_var.get()] = loop->min;
      continue;
    }
    Var var = make_var(loop->loop_var->name_hint + "_init", loop->loop_var->dtype);
    values[loop->loop_var.get()] = var;
    kept.emplace_back(loop, var);
  }
  std::vector<IterVar> axes;
  std::vector<PrimExpr> bindings;
  Substitution inner = {};
  for (size_t n = 0; n < halves.inner_axes.size(); ++n) {
    const IterVar& axis = halves.inner_axes[n];
    if (axis->iter_type == IterType::kReduce) {
      inner[axis->var.get()] = axis->dom->min;
      continue;
    }
    Var var = make_var(axis->var->name_hint + "_init", axis->var->dtype);
    inner[axis->var.get()] = var;
    axes.push_back(with(axis, [&](IterVarNode& n) { n.var = var; }));
    bindings.push_back(substitute(halves.inner_values[n], values));
  }
  const Block block = new_block(realize->block->name_hint + "_init", axes, Stmt(),
                                substitute(substitute(realize->block->init, halves.axis_values), inner),
                                realize->block->span);
  Stmt stmt = new_stage(block, bindings, analyzer.simplify(substitute(predicate, values)), {}).stmt;
  for (size_t n = kept.size(); n-- > 0;)
    stmt = ForNode::make(kept[n].first->min, kept[n].first->extent, kept[n].second, ForKind::kSerial,
                         std::string(), AttrMap{}, stmt, kept[n].first->span);
  return stmt;
}

Block inner_block(const BlockRealizeNode* realize, const Halves& halves, bool is_update) {
  Block moved = substitute(realize->block, halves.axis_values);
  moved = with(moved, [&](BlockNode& n) {
    n.iter_vars = halves.inner_axes;
    if (!is_update) return;
    // reads what the outer init has started
    n.init = nullptr;
    n.reads.insert(n.reads.begin(), n.writes.begin(), n.writes.end());
  });
  return moved;
}

}  // namespace

Blockized blockized(const State& state, NodeId loop_id, bool preserve_unit_iters) {
  const std::vector<NodeId> blocks = state.blocks_below(loop_id);
  const std::string& name = state.node(loop_id).name;
  if (blocks.size() != 1)
    throw refuse(state, loop_id, "loop {} has {} blocks inside, not one", name, blocks.size());
  const BlockRealizeNode* realize = state.node(blocks[0]).realize();
  std::vector<NodeId> inner_ids = loops_between(state, state.node(loop_id).parent, blocks[0]);
  std::vector<NodeId> all_ids = state.loops_above(blocks[0]);
  require_chain(state, inner_ids);
  if (state.node(inner_ids.back()).loop()->body.get() != realize)
    throw refuse(state, blocks[0], "block {} is not the only statement in loop {}",
                 state.node(blocks[0]).name, state.node(inner_ids.back()).name);
  arith::Analyzer analyzer;
  bind_loops_above(state, blocks[0], analyzer);
  std::vector<Var> inner_vars;
  std::vector<const ForNode*> inner_loops;
  for (NodeId id : inner_ids) {
    inner_loops.push_back(state.node(id).loop());
    inner_vars.push_back(state.node(id).loop()->loop_var);
  }
  const arith::SubspaceDivision division = arith::subspace_divide(
      realize->iter_values, ranges_of(state, all_ids), inner_vars, realize->predicate, analyzer);
  if (!division)
    throw refuse(state, blocks[0], "the axes of block {} cannot be divided at loop {}: {}",
                 state.node(blocks[0]).name, name, division.reason);
  require_starts(state, blocks[0], division, analyzer);
  const Halves halves = divide_axes(realize, division, preserve_unit_iters, analyzer);
  require_fixed_domains(state, blocks[0], halves);
  const bool has_outer_init = realize->block->init && halves.has_outer_reduction;
  const Block inner = inner_block(realize, halves, has_outer_init);
  const Span& written = realize->block->span;
  Stmt body = BlockRealizeNode::make(halves.inner_values, division.inner_predicate, inner, written);
  for (size_t n = inner_loops.size(); n-- > 0;)
    body = with(inner_loops[n], [&](ForNode& changed) { changed.body = body; });
  Stmt init;
  if (has_outer_init) init = make_init(realize, halves, inner_loops, division.inner_predicate, analyzer);
  const Block outer = BlockNode::make(
      realize->block->name_hint + "_o", halves.outer_axes, std::vector<Buffer>{},
      relaxed_regions(realize->block->reads, halves.axis_values, halves.inner_axes, analyzer),
      relaxed_regions(realize->block->writes, halves.axis_values, halves.inner_axes, analyzer),
      std::vector<MatchBufferRegion>{}, AttrMap{}, init, body, written);
  return {BlockRealizeNode::make(halves.outer_values, division.outer_predicate, outer, written),
          realize->block.get(), inner};
}

}  // namespace tilewright::schedule
