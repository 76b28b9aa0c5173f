// decompose_padding: a block that pads becomes one that fills and one that copies what is there.
#include <algorithm>

#include "tilewright/analysis/regions.h"
#include "tilewright/analysis/verify.h"
#include "tilewright/arith/int_set.h"
#include "tilewright/arith/iter_parse.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/core/edit.h"
#include "tilewright/schedule/core/fresh.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/transforms/inline.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"

namespace tilewright::schedule {
namespace {

struct Args {
  BlockRef block;
  LoopRef loop;
  static constexpr auto fields() {
    return std::tuple{field<&Args::block>("block", "one store of T.if_then_else(condition, value, constant)"),
                      field<&Args::loop>("loop", "a loop around it; the block that fills goes before it")};
  }
};

struct Padding {
  PrimExpr condition, value, fill;
};

Padding require_padding(const State& state, NodeId id, const BufferStoreNode* store) {
  Padding found;
  if (const auto* select = store->value.as<SelectNode>())
    found = {select->condition, select->true_value, select->false_value};
  const auto* call = store->value.as<CallNode>();
  if (is_if_then_else(call)) found = {call->args[0], call->args[1], call->args[2]};
  if (!found.fill || (!is<IntImmNode>(found.fill) && !is<FloatImmNode>(found.fill)))
    throw refuse(state, id, "block {} does not store T.if_then_else(condition, value, constant), but {}",
                 state.node(id).name, text(store->value));
  return found;
}

// Filling before copying changes nothing if each element is stored once and nothing else inside of the loop
// uses the buffer.
void require_legal(const State& state, NodeId block, NodeId loop, const Buffer& buffer) {
  if (!state.is_inside(block, loop) || state.scope_of(block) != state.scope_of(loop))
    throw refuse(state, loop, "loop {} is not around block {}", state.node(loop).name,
                 state.node(block).name);
  if (const Objection reason = why_not_reorderable(state, block); !reason.empty())
    throw refuse(state, block, "block {} cannot be decomposed: {}", state.node(block).name, reason);
  for (const Access& access : accesses_below(state, loop)) {
    if (access.block != block && may_alias(access.buffer, buffer))
      throw refuse(state, access.block, "block {} {} {} inside loop {}, before which it would be filled",
                   state.node(access.block).name, access.is_write ? "writes" : "reads", buffer->name,
                   state.node(loop).name);
  }
}

// Each instance stores an element of its own while the loop runs: filled first, it is not overwritten later.
void require_once(const State& state, NodeId block, const std::vector<NodeId>& inner) {
  const BlockRealizeNode* realize = state.node(block).realize();
  arith::Analyzer analyzer;
  bind_loops_above(state, block, analyzer);
  const arith::IterMap map =
      arith::detect_iter_map(realize->iter_values, ranges_of(state, inner), realize->predicate,
                             arith::IterMapLevel::kInjective, analyzer);
  if (!map)
    throw refuse(state, block, "block {} may run more than once for the same values of its axes ({})",
                 state.node(block).name, map.reason);
}

// The values of an axis for which `parts` hold, if that is exactly an interval of constants.
std::optional<std::pair<int64_t, int64_t>> exact_interval(const IterVar& axis,
                                                          const std::vector<PrimExpr>& parts) {
  int64_t low, extent;
  if (!as_const_int(axis->dom->min, &low) || !as_const_int(axis->dom->extent, &extent)) return std::nullopt;
  int64_t high = low + extent - 1;
  const DataType dtype = axis->var->dtype;
  auto holds = [&](const PrimExpr& part, int64_t value) -> std::optional<bool> {
    const PrimExpr result =
        arith::simplify(substitute(part, {{axis->var.get(), make_const_int(dtype, value)}}));
    int64_t truth;
    if (!as_const_int(result, &truth)) return std::nullopt;
    return truth != 0;
  };
  if (extent > (1 << 20)) return std::nullopt;
  std::optional<int64_t> first, last;
  for (int64_t value = low; value <= high; ++value) {
    bool all = true;
    for (const PrimExpr& part : parts) {
      const std::optional<bool> known = holds(part, value);
      if (!known) return std::nullopt;
      all &= *known;
    }
    if (!all) continue;
    if (last && *last != value - 1) return std::nullopt;
    if (!first) first = value;
    last = value;
  }
  if (!first) return std::nullopt;
  return std::pair{*first, *last};
}

// The part of the condition that is an interval of one axis that is a loop inside of `loop`, and the rest.
struct Shrunk {
  std::unordered_map<const VarNode*, std::pair<int64_t, int64_t>>
      loops;                                          // loop variable -> first and last value
  std::unordered_map<const VarNode*, int64_t> shift;  // axis -> its first value
  PrimExpr rest = bool_imm(true);
};

Shrunk shrink(const State& state, NodeId block, const std::vector<NodeId>& inner, const PrimExpr& condition) {
  const BlockRealizeNode* realize = state.node(block).realize();
  Shrunk result;
  std::vector<PrimExpr> parts = arith::conjuncts(condition);
  for (size_t n = 0; n < realize->iter_values.size(); ++n) {
    const IterVar& axis = realize->block->iter_vars[n];
    const auto* var = realize->iter_values[n].as<VarNode>();
    const auto loop = std::find_if(inner.begin(), inner.end(),
                                   [&](NodeId id) { return state.node(id).loop()->loop_var.get() == var; });
    bool is_alone = loop != inner.end() && !uses(realize->predicate, var) && is_zero(axis->dom->min) &&
                    structural_equal(state.node(*loop).loop()->extent, axis->dom->extent) &&
                    is_zero(state.node(*loop).loop()->min);
    for (size_t other = 0; other < realize->iter_values.size() && is_alone; ++other)
      is_alone = other == n || !uses(realize->iter_values[other], var);
    if (!is_alone) continue;
    std::vector<PrimExpr> own;
    for (const PrimExpr& part : parts) {
      bool only_this = uses(part, axis->var.get());
      for (const IterVar& each : realize->block->iter_vars)
        only_this &= each == axis || !uses(part, each->var.get());
      if (only_this) own.push_back(part);
    }
    const auto interval = own.empty() ? std::nullopt : exact_interval(axis, own);
    if (!interval) continue;
    std::erase_if(parts,
                  [&](const PrimExpr& part) { return std::find(own.begin(), own.end(), part) != own.end(); });
    result.loops[var] = *interval;
    result.shift[axis->var.get()] = interval->first;
  }
  for (const PrimExpr& part : parts)
    result.rest = is_one(result.rest) ? part : logical_and(result.rest, part);
  return result;
}

// The copying block, with shorter loops and a predicate for the rest of the condition.
Block inner_block(const BlockRealizeNode* realize, const BufferStoreNode* store, const Padding& padding,
                  const Shrunk& shrunk, arith::Analyzer& analyzer, Substitution* moved) {
  std::vector<IterVar> axes;
  for (const IterVar& axis : realize->block->iter_vars) {
    const auto shift = shrunk.shift.find(axis->var.get());
    axes.push_back(axis);
    if (shift == shrunk.shift.end()) continue;
    (*moved)[axis->var.get()] = axis->var + shift->second;
  }
  std::vector<PrimExpr> indices;
  for (const PrimExpr& index : store->indices)
    indices.push_back(analyzer.simplify(substitute(index, *moved)));
  const PrimExpr value =
      rewrite(substitute(padding.value, *moved), [&](auto& self, const BufferLoadNode* load) -> PrimExpr {
        const BufferLoad inner = self.children(load);
        return with(inner, [&](BufferLoadNode& n) {
          for (PrimExpr& index : n.indices) index = analyzer.simplify(index);
        });
      });
  const Block block = with(realize->block, [&](BlockNode& n) {
    n.body = tir::store(store->buffer, value, indices);
    for (IterVar& axis : n.iter_vars) {
      const auto loop = std::find_if(shrunk.shift.begin(), shrunk.shift.end(),
                                     [&](const auto& entry) { return entry.first == axis->var.get(); });
      if (loop == shrunk.shift.end()) continue;
      for (size_t at = 0; at < realize->iter_values.size(); ++at) {
        if (realize->block->iter_vars[at]->var != axis->var) continue;
        const auto& [first, last] = shrunk.loops.at(realize->iter_values[at].as<VarNode>());
        axis = with(axis, [&](IterVarNode& changed) {
          changed.dom = make_range(changed.dom->min, make_const_int(changed.var->dtype, last - first + 1));
        });
        break;
      }
    }
  });
  const analysis::AccessRegions regions = analysis::access_regions(block);
  return with(block, [&](BlockNode& n) { n.reads = regions.reads, n.writes = regions.writes; });
}

// Conditions that always hold were removed: accesses must be inside of their buffers without them.
void require_in_bounds(const State& state, NodeId id) {
  analysis::verify(state.func_of(id).func, {.axes_match_loops = false, .regions_cover_accesses = false});
}

BlockRef apply(State& state, const Args& args) {
  const NodeId id = state[args.block], loop = state[args.loop];
  const BufferStoreNode* store = require_single_store(state, id);
  const Padding padding = require_padding(state, id, store);
  require_legal(state, id, loop, store->buffer);
  const std::vector<NodeId> above = state.loops_above(id);
  const std::vector<NodeId> inner(std::find(above.begin(), above.end(), loop), above.end());
  require_chain(state, inner);
  require_once(state, id, inner);
  const BlockRealizeNode* realize = state.node(id).realize();
  if (state.node(inner.back()).loop()->body.get() != realize)
    throw refuse(state, id, "block {} is not the only statement in loop {}", state.node(id).name,
                 state.node(inner.back()).name);
  arith::Analyzer analyzer;
  bind_loops_above(state, id, analyzer);
  for (const IterVar& axis : realize->block->iter_vars) analyzer.bind(axis->var, axis->dom);
  // the block that fills: the same nest with the constant
  Block fill = with(realize->block, [&](BlockNode& n) {
    n.body = tir::store(store->buffer, padding.fill, store->indices);
    n.reads.clear();
    n.annotations = AttrMap();
  });
  Stmt fill_nest = with(realize, [&](BlockRealizeNode& n) { n.block = fill; });
  for (size_t n = inner.size(); n-- > 0;)
    fill_nest = with(state.node(inner[n]).loop(), [&](ForNode& changed) { changed.body = fill_nest; });
  fill_nest = fresh_copy(fill_nest, "_pad_const");
  // the block that copies
  const Shrunk shrunk = shrink(state, id, inner, padding.condition);
  Substitution moved, bindings;
  const Block copied = inner_block(realize, store, padding, shrunk, analyzer, &moved);
  for (size_t n = 0; n < realize->iter_values.size(); ++n)
    bindings[realize->block->iter_vars[n]->var.get()] = realize->iter_values[n];
  const PrimExpr guard = analyzer.simplify(substitute(substitute(shrunk.rest, moved), bindings));
  Stmt nest = with(realize, [&](BlockRealizeNode& n) {
    n.block = copied;
    if (!is_one(guard)) n.predicate = is_one(n.predicate) ? guard : logical_and(n.predicate, guard);
  });
  for (size_t n = inner.size(); n-- > 0;) {
    const ForNode* before = state.node(inner[n]).loop();
    const auto range = shrunk.loops.find(before->loop_var.get());
    nest = with(before, [&](ForNode& changed) {
      changed.body = nest;
      if (range != shrunk.loops.end())
        changed.extent =
            make_const_int(changed.loop_var->dtype, range->second.second - range->second.first + 1);
    });
  }
  const BlockNode* filler = nullptr;
  walk(fill_nest, [&](const BlockNode* found) { filler = found; });
  const NodeId scope = state.scope_of(id);
  Edit edit(state);
  edit.forward(realize->block.get(), copied);
  edit.replace(loop, seq({fill_nest, nest}));
  State after = state;
  edit.commit(after, scope);
  require_in_bounds(after, id);
  state = std::move(after);
  return state.new_block_ref(state.find(filler, scope));
}

}  // namespace

extern constinit const PrimitiveInfo decompose_padding_info = primitive<apply>("decompose_padding", R"(
Splits a block that pads into one that fills everything with the constant and one that copies what is there.

    for i in range(140):                              for i in range(140):
        with T.block("Y"):                                with T.block("Y_pad_const"):
            vi = i                            ->              Y[vi] = 0
            Y[vi] = T.if_then_else(                   for i in range(128):
                6 <= vi and vi < 134,                     with T.block("Y"):
                X[vi - 6], 0)                                 Y[vi + 6] = X[vi]            decompose_padding(Y, i)

Where the condition bounds a loop inside of `loop` that is an axis of its own, that loop becomes shorter; what else there is
becomes a predicate.

block    one store of T.if_then_else(condition, value, constant); its handle goes on as the block that copies
loop     a loop around it; the block that fills goes before it
Returns  the block that fills
Raises   UserError if the block stores something else, if another block inside of `loop` uses the buffer, or if
         the value lies outside of a buffer although the condition holds.
)");
}  // namespace tilewright::schedule
