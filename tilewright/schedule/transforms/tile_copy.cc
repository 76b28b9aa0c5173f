#include "tilewright/schedule/transforms/tile_copy.h"

#include <algorithm>

#include "tilewright/schedule/core/edit.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/reduction.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/core/stage.h"
#include "tilewright/schedule/legality/block_checks.h"
#include "tilewright/schedule/legality/coverage.h"
#include "tilewright/schedule/transforms/cache_stage.h"
#include "tilewright/schedule/transforms/loop_kind.h"
#include "tilewright/schedule/transforms/outer_regions.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

void require_legal(const State& state, const TileCopyArgs& args) {
  const std::string &block = state.node(args.block).name, &loop = state.node(args.loop).name;
  if (!state.is_inside(args.block, args.loop))
    throw refuse(state, args.loop, "block {} is not inside loop {}", block, loop);
  if (state.scope_of(args.block) != state.scope_of(args.loop))
    throw refuse(state, args.loop, "block {} and loop {} are not inside the same block", block, loop);
  const NodeId scope = state.scope_of(args.loop);
  for (NodeId writer : writers_of(state, scope, args.buffer)) {
    if (!args.is_read && writer == args.block) continue;
    if (!args.is_read || state.is_inside(writer, args.loop))
      throw refuse(state, writer, "block {} writes {} {}", state.node(writer).name, args.buffer->name,
                   args.is_read ? fmt::format("inside of loop {}", loop) : "as well");
  }
  if (args.is_read) return;
  if (const Objection reason = why_not_apart(state, args.block, args.buffer); !reason.empty())
    throw refuse(state, args.block, "{}", reason);
  if (const Objection reason = why_not_whole_sum(state, args.block); !reason.empty())
    throw refuse(state, args.block, "block {} cannot write elsewhere: {}", block, reason);
  for (NodeId reader : readers_of(state, scope, args.buffer)) {
    if (reader != args.block && (state.is_inside(reader, args.loop) || is_before(state, reader, args.loop)))
      throw refuse(state, reader, "block {} reads {}, which block {} writes, not after loop {}",
                   state.node(reader).name, args.buffer->name, block, loop);
  }
}

// The elements that one iteration of the loop touches.
arith::IntervalRegion tile_of(const State& state, const TileCopyArgs& args, arith::Analyzer& analyzer) {
  arith::IntervalRegion tile;
  for (const Access& access : accesses_of(state, args.block)) {
    if (access.is_write == args.is_read || access.buffer != args.buffer) continue;
    tile = args.is_read ? relaxed_unguarded(state, access, args.loop, analyzer)
                        : relaxed(state, access, args.loop, analyzer);
  }
  return arith::intersect(tile, arith::to_intervals(full_region(args.buffer)->region), analyzer);
}

// with T.block(name): v0 = loop variable, ...
//     for ax0, ...: to[min(v0) + ax0, ...] = from[...]
Stage make_copy_block(const State& state, const TileCopyArgs& args, const Buffer& cache,
                      const arith::IntervalRegion& tile, arith::Analyzer& analyzer) {
  const Buffer &from = args.is_read ? args.buffer : cache, &to = args.is_read ? cache : args.buffer;
  std::vector<NodeId> loops = state.loops_above(args.loop);
  loops.push_back(args.loop);
  std::vector<IterVar> axes;
  std::vector<PrimExpr> bindings;
  Substitution values;
  for (NodeId id : loops) {
    const ForNode* loop = state.node(id).loop();
    const bool is_used = std::any_of(tile.begin(), tile.end(), [&](const arith::Interval& side) {
      return side.is_bounded() &&
             (uses(side.min, loop->loop_var.get()) || uses(side.max, loop->loop_var.get()));
    });
    if (!is_used) continue;
    const Var axis = make_var(fmt::format("v{}", axes.size()), loop->loop_var->dtype);
    const Range range = make_range(loop->min, loop->extent);
    analyzer.bind(axis, range);
    axes.push_back(IterVarNode::make(axis, range, IterType::kSpatial, std::string()));
    bindings.push_back(loop->loop_var);
    values[loop->loop_var.get()] = axis;
  }
  std::vector<Range> region;
  std::vector<PrimExpr> indices;
  std::vector<std::pair<Var, PrimExpr>> inner;
  PrimExpr guard = bool_imm(true);
  for (size_t n = 0; n < args.buffer->shape.size(); ++n) {
    const PrimExpr shape = args.buffer->shape[n];
    PrimExpr min = imm(0, shape->dtype), end = shape;
    if (tile[n].is_bounded()) {
      min = analyzer.simplify(cast(shape->dtype, substitute(tile[n].min, values)));
      end = analyzer.simplify(cast(shape->dtype, substitute(tile[n].max, values)) + 1);
    }
    PrimExpr extent = analyzer.simplify(end - min);
    const arith::ConstBounds bounds = analyzer.const_bounds(extent);
    if (!is<IntImmNode>(extent) && bounds.max != arith::kPosInf)
      extent = make_const_int(shape->dtype, bounds.max);
    const Var place = make_var(fmt::format("ax{}", n), shape->dtype);
    analyzer.bind(place, make_range(imm(0, shape->dtype), extent));
    inner.emplace_back(place, extent);
    indices.push_back(analyzer.simplify(min + place));
    region.push_back(make_range(min, extent));
    const PrimExpr inside = analyzer.simplify(indices.back() < end);
    if (!is_one(inside)) guard = is_one(guard) ? inside : logical_and(guard, inside);
  }
  Stmt body = store(to, load(from, indices), indices);
  if (!is_one(guard)) body = IfThenElseNode::make(guard, body);
  const Span& written = state.node(args.block).block()->span;
  const Block found = new_block(cache->name, axes, Stmt(), new_loops(inner, body, written), written,
                                {{"auto_copy", bool_imm(true)}});
  const Block block = with(found, [&](BlockNode& n) {
    n.reads = {BufferRegionNode::make(from, region)};
    n.writes = {BufferRegionNode::make(to, region)};
  });
  // where the block does not run at all there is nothing to bring back
  PrimExpr runs = bool_imm(true);
  std::vector<Range> domains;
  if (!args.is_read) why_not_bijective(state, args.block, args.loop, &domains, &runs);
  return new_stage(block, bindings, runs, {});
}

}  // namespace

NodeId add_tile_copy(State& state, const TileCopyArgs& args) {
  require_legal(state, args);
  const NodeId scope = state.scope_of(args.loop);
  const BlockRealizeNode* realize = state.node(args.block).realize();
  arith::Analyzer analyzer;
  bind_loops_above(state, args.block, analyzer);
  const arith::IntervalRegion tile = tile_of(state, args, analyzer);
  // where the block does not run the copy does not either
  if (!args.is_read && !surely_writes(state, args.block, args.buffer, tile, args.loop,
                                      guard_outside(state, args.block, args.loop)))
    throw refuse(state, args.block,
                 "block {} may leave elements of {} unwritten, which a copy would overwrite",
                 realize->block->name_hint, args.buffer->name);
  const Buffer cache = make_cache(args.buffer, args.storage_scope);
  const Stage copy = make_copy_block(state, args, cache, tile, analyzer);
  const Block changed = on_cache(realize->block, args.buffer, cache);
  if (!args.is_read) require_no_pointer(state, args.block, changed, args.buffer);
  const NodeId child = child_towards(state, args.loop, args.block);
  Edit inside(state), edit(state);
  inside.replace_block(args.block, with(realize, [&](BlockRealizeNode& n) { n.block = changed; }));
  edit.forward(realize->block.get(), changed);
  const Stmt nest = inside.build(child);
  edit.replace(child, args.is_read ? seq({copy.stmt, nest}) : seq({nest, copy.stmt}));
  edit.edit_block(scope, [&](BlockNode& n) { n.alloc_buffers.push_back(cache); });
  State after = state;
  edit.commit(after, scope);
  complete_outer_regions(after, args.block);
  require_still_independent(after, args.block);
  state = std::move(after);
  return state.find(copy.block.get(), scope);
}

}  // namespace tilewright::schedule
