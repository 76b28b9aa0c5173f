#include "tilewright/schedule/transforms/factor_axes.h"

#include <algorithm>

#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {

FactorAxes divide_axes(const State& state, NodeId block_id, NodeId loop_id) {
  const BlockRealizeNode* realize = state.node(block_id).realize();
  FactorAxes axes;
  Substitution loop_axes;
  std::vector<const ForNode*> pending;  // loops that reduce and have no axis yet
  const auto add_loop = [&](const ForNode* loop, IterType type) {
    const Var var = ref_as<VarNode>(loop_axes.at(loop->loop_var.get()));
    axes.partial.push_back(IterVarNode::make(var, make_range(loop->min, loop->extent), type, std::string()));
    axes.partial_values.push_back(loop->loop_var);
  };
  for (NodeId id : state.loops_above(block_id)) {
    const ForNode* loop = state.node(id).loop();
    bool feeds_reduce = false, feeds_spatial = false;
    for (size_t n = 0; n < realize->iter_values.size(); ++n) {
      const bool is_reduce = realize->block->iter_vars[n]->iter_type == IterType::kReduce;
      if (uses(realize->iter_values[n], loop->loop_var.get()))
        (is_reduce ? feeds_reduce : feeds_spatial) = true;
    }
    if (feeds_reduce && feeds_spatial)
      throw refuse(state, id, "loop {} feeds both spatial and reduce axes of block {}", state.node(id).name,
                   state.node(block_id).name);
    if (id == loop_id && !feeds_reduce)
      throw refuse(state, id, "loop {} does not reduce in block {}", state.node(id).name,
                   state.node(block_id).name);
    if (!feeds_reduce) continue;
    if (!is_zero(loop->min)) throw refuse(state, id, "loop {} does not start at 0", state.node(id).name);
    const Var var = make_var("v" + loop->loop_var->name_hint, loop->loop_var->dtype);
    loop_axes[loop->loop_var.get()] = var;
    if (id == loop_id)
      axes.factor = var;
    else
      pending.push_back(loop);
  }
  add_loop(state.node(loop_id).loop(), IterType::kSpatial);
  axes.combine_factor = make_var(axes.factor->name_hint, axes.factor->dtype);
  for (size_t n = 0; n < realize->iter_values.size(); ++n) {
    const IterVar& axis = realize->block->iter_vars[n];
    if (axis->iter_type == IterType::kReduce) {
      axes.reduce_values[axis->var.get()] = substitute(realize->iter_values[n], loop_axes);
      std::erase_if(pending, [&](const ForNode* loop) {
        const bool is_part = uses(realize->iter_values[n], loop->loop_var.get());
        if (is_part) add_loop(loop, IterType::kReduce);
        return is_part;
      });
      continue;
    }
    axes.partial.push_back(with(axis, [&](IterVarNode& changed) {
      changed.var = make_var(axis->var->name_hint, axis->var->dtype);
      axes.reduce_values[axis->var.get()] = changed.var;
    }));
    axes.partial_values.push_back(realize->iter_values[n]);
    axes.combine.push_back(with(axis, [&](IterVarNode& changed) {
      changed.var = make_var(axis->var->name_hint, axis->var->dtype);
      axes.combine_spatial[axis->var.get()] = changed.var;
    }));
  }
  return axes;
}

PrimExpr started_iterations(const State& state, NodeId block_id, NodeId loop_id) {
  const BlockRealizeNode* realize = state.node(block_id).realize();
  const VarNode* factor = state.node(loop_id).loop()->loop_var.get();
  arith::Analyzer analyzer;
  bind_loops_above(state, block_id, analyzer);
  Substitution start;
  std::vector<const VarNode*> reducing = {factor}, others;
  for (NodeId id : state.loops_above(block_id)) {
    const ForNode* loop = state.node(id).loop();
    if (loop->loop_var.get() != factor) others.push_back(loop->loop_var.get());
    for (size_t n = 0; n < realize->iter_values.size(); ++n) {
      const bool is_reduce = realize->block->iter_vars[n]->iter_type == IterType::kReduce;
      if (!is_reduce || id == loop_id || !uses(realize->iter_values[n], loop->loop_var.get())) continue;
      start[loop->loop_var.get()] = loop->min;
      reducing.push_back(loop->loop_var.get());
    }
  }
  const auto uses_any = [](const PrimExpr& expr, const std::vector<const VarNode*>& vars) {
    return std::any_of(vars.begin(), vars.end(), [&](const VarNode* var) { return uses(expr, var); });
  };
  // k0 * 16 + k1 < n: where it holds for any k0, it holds for the first one
  const auto holds_first_at_start = [&](const PrimExpr& part) {
    const auto* less = part.as<LTNode>();
    return less && !uses_any(less->b, reducing) && analyzer.can_prove(substitute(less->a, start) <= less->a);
  };
  PrimExpr started;
  std::vector<PrimExpr> pending = {realize->predicate};
  while (!pending.empty()) {
    const PrimExpr part = pending.back();
    pending.pop_back();
    if (const auto* both = part.as<AndNode>()) {
      pending.push_back(both->a);
      pending.push_back(both->b);
      continue;
    }
    const PrimExpr at_start = arith::simplify(substitute(part, start));
    if (!uses_any(part, reducing) || analyzer.can_prove(at_start)) continue;
    if (!holds_first_at_start(part) || uses_any(at_start, others))
      throw refuse(state, block_id,
                   "block {} is guarded by {}, which may leave iterations of loop {} without any term",
                   state.node(block_id).name, text(part), state.node(loop_id).name);
    started = started ? logical_and(started, at_start) : at_start;
  }
  return started;
}

}  // namespace tilewright::schedule
