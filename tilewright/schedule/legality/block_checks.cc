#include "tilewright/schedule/legality/block_checks.h"

#include "tilewright/ir/walk.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/reduction.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/legality/digits.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {

NodeId require_scope(const State& state, NodeId id) {
  const NodeId scope = state.scope_of(id);
  if (scope == kNoNode)
    throw refuse(state, id, "block {} is the whole body of function {}", state.node(id).name,
                 state.func_of(id).name->name_hint)
        .help("name a block inside of it");
  return scope;
}

Objection why_not_one_to_one(const State& state, NodeId id) {
  if (!state.proves_steps) return {};
  const BlockNode* block = state.node(id).block();
  for (const BufferRegion& write : block->writes) {
    arith::Analyzer analyzer;
    arith::IterRanges axes;
    for (const IterVar& axis : block->iter_vars) {
      analyzer.bind(axis->var, axis->dom);
      bool is_used = false;
      for (const Range& range : write->region)
        walk(range->min, [&](const VarNode* var) { is_used |= var == axis->var.get(); });
      if (axis->iter_type == IterType::kReduce && is_used)
        return fmt::format("block {} writes {}, which depends on reduce axis {}", block->name_hint,
                           text(write), axis->var->name_hint);
      if (axis->iter_type != IterType::kReduce && !is_one(analyzer.simplify(axis->dom->extent)))
        axes.emplace_back(axis->var, axis->dom);
    }
    std::vector<PrimExpr> indices;
    for (const Range& range : write->region) {
      if (is_one(range->extent)) {
        indices.push_back(range->min);
        continue;
      }
      Var place = make_var("place", range->min->dtype);
      axes.emplace_back(place, make_range(imm(0, place->dtype), range->extent));
      analyzer.bind(place, axes.back().second);
      indices.push_back(range->min + place);
    }
    if (axes.empty()) continue;
    const auto is_one_to_one = [&](const std::vector<PrimExpr>& numbers) {
      return bool(
          arith::detect_iter_map(numbers, axes, bool_imm(true), arith::IterMapLevel::kInjective, analyzer));
    };
    if (is_one_to_one(indices)) continue;
    const std::vector<PrimExpr> others = indices_without_digits(indices, write->buffer->shape, analyzer);
    if (others.empty() || !is_one_to_one(others))
      return fmt::format("block {} may write {} for several values of its spatial axes", block->name_hint,
                         text(write));
  }
  return {};
}

Objection why_not_reorderable(const State& state, NodeId id) {
  if (!state.proves_steps) return {};
  const BlockNode* block = state.node(id).block();
  size_t num_reduce = 0;
  for (const IterVar& axis : block->iter_vars) {
    if (axis->iter_type != IterType::kSpatial && axis->iter_type != IterType::kReduce)
      return fmt::format("axis {} of block {} is neither spatial nor reduce", axis->var->name_hint,
                         block->name_hint);
    num_reduce += axis->iter_type == IterType::kReduce && !is_one(axis->dom->extent);
  }
  if (Objection reason = why_not_one_to_one(state, id); !reason.empty()) return reason;
  if (Objection reason = why_not_apart(state, id); !reason.empty()) return reason;
  if (num_reduce > 0 && !block->init)
    return fmt::format("block {} has reduce axes, but no init", block->name_hint);
  if (num_reduce > 1 && !is_commutative_update(block))
    return fmt::format("the update of block {} is not known to be commutative", block->name_hint);
  return {};
}

namespace {

// The conjuncts of a condition that use none of the loops.
PrimExpr part_without(const PrimExpr& condition, const arith::IterRanges& loops) {
  if (const auto* both = condition.as<AndNode>()) {
    return logical_and(part_without(both->a, loops), part_without(both->b, loops));
  }
  bool uses_loop = false;
  walk(condition, [&](const VarNode* var) {
    for (const auto& [loop, range] : loops) uses_loop = uses_loop || loop.get() == var;
  });
  return uses_loop ? bool_imm(true) : condition;
}

// `condition` in terms of the block's axes, if it uses several of `loops` and each of them is an axis; else
// null.
PrimExpr as_axis_guard(const BlockRealizeNode* realize, const PrimExpr& condition,
                       const arith::IterRanges& loops) {
  Substitution axes;
  size_t num_loops = 0;
  for (const auto& [loop, range] : loops) {
    if (!uses(condition, loop.get())) continue;
    ++num_loops;
    for (size_t n = 0; n < realize->iter_values.size(); ++n) {
      if (realize->iter_values[n].as<VarNode>() == loop.get())
        axes[loop.get()] = realize->block->iter_vars[n]->var;
    }
  }
  return num_loops > 1 && axes.size() == num_loops ? substitute(condition, axes) : nullptr;
}

// Takes the conjuncts of `condition` that are guards of axes into `axis_guard` and gives the others.
PrimExpr without_axis_guards(const BlockRealizeNode* realize, const PrimExpr& condition,
                             const arith::IterRanges& loops, PrimExpr* axis_guard) {
  if (const auto* both = condition.as<AndNode>())
    return logical_and(without_axis_guards(realize, both->a, loops, axis_guard),
                       without_axis_guards(realize, both->b, loops, axis_guard));
  const PrimExpr of_axes = as_axis_guard(realize, condition, loops);
  if (!of_axes) return condition;
  *axis_guard = logical_and(*axis_guard, of_axes);
  return bool_imm(true);
}

}  // namespace

PrimExpr guard_outside(const State& state, NodeId id, NodeId outer) {
  return part_without(state.node(id).realize()->predicate, ranges_of(state, loops_between(state, outer, id)));
}

Objection why_not_bijective(const State& state, NodeId id, NodeId outer, std::vector<Range>* domains,
                            PrimExpr* guard, PrimExpr* axis_guard) {
  const BlockRealizeNode* realize = state.node(id).realize();
  arith::Analyzer analyzer;
  bind_loops_above(state, id, analyzer);
  const arith::IterRanges loops = ranges_of(state, loops_between(state, outer, id));
  PrimExpr predicate = realize->predicate;
  arith::IterMap map = arith::detect_iter_map(realize->iter_values, loops, predicate,
                                              arith::IterMapLevel::kBijective, analyzer);
  if (!map && axis_guard) {
    *axis_guard = bool_imm(true);
    predicate = without_axis_guards(realize, predicate, loops, axis_guard);
    map = arith::detect_iter_map(realize->iter_values, loops, predicate, arith::IterMapLevel::kBijective,
                                 analyzer);
  }
  const PrimExpr outside = guard_outside(state, id, outer);
  if (guard) *guard = outside;
  if (!guard && !is_one(outside))
    return fmt::format("block {} runs only where {}", state.node(id).name, text(outside));
  if (!map)
    return fmt::format("block {} does not run once for each value of its axes ({})", state.node(id).name,
                       map.reason);
  for (const arith::IterSum& sum : map.indices) {
    PrimExpr extent = imm(1, sum.base->dtype);
    for (const arith::IterSplit& split : sum.args) extent = extent + (split.extent - 1) * split.scale;
    domains->push_back(make_range(sum.base, analyzer.simplify(extent)));
  }
  return {};
}

Objection why_not_whole_sum(const State& state, NodeId id) {
  if (!state.proves_steps) return {};
  const BlockNode* block = state.node(id).block();
  if (!block->init) {
    // a block continues a sum if a block inside of it does
    for (NodeId inner : state.blocks_below(id)) {
      if (Objection reason = why_not_whole_sum(state, inner); !reason.empty()) return reason;
    }
    return {};
  }
  std::vector<Range> domains;
  PrimExpr guard;
  if (Objection reason = why_not_bijective(state, id, state.scope_of(id), &domains, &guard); !reason.empty())
    return reason;
  arith::Analyzer analyzer;
  for (size_t n = 0; n < domains.size(); ++n) {
    const IterVar& axis = block->iter_vars[n];
    if (axis->iter_type == IterType::kReduce && !analyzer.can_prove_equal(domains[n]->min, axis->dom->min))
      return fmt::format("the sum of block {} does not start inside of block {}", block->name_hint,
                         state.node(state.scope_of(id)).name);
  }
  return {};
}

Objection why_not_only_writer(const State& state, NodeId id, bool may_be_parameters) {
  if (!state.proves_steps) return {};
  for (const BufferRegion& write : state.node(id).block()->writes) {
    const Buffer& buffer = write->buffer;
    const NodeId owner = allocation_of(state, buffer, state.node(id).parent);
    const bool is_parameter = owner == kNoNode && is_parameter_of(state, id, buffer);
    if (owner == kNoNode && !(is_parameter && may_be_parameters))
      return fmt::format("block {} writes {}, {}", state.node(id).name, buffer->name,
                         where_from(state, id, buffer));
    for (NodeId writer : writers_of(state, is_parameter ? state.func_of(id).root : owner, buffer, id)) {
      if (writer != id)
        return fmt::format("block {} writes {} as well", state.node(writer).name, buffer->name);
    }
  }
  return {};
}

}  // namespace tilewright::schedule
