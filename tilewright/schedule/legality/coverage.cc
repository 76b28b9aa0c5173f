#include "tilewright/schedule/legality/coverage.h"

#include "tilewright/analysis/ordered_accesses.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/legality/block_checks.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/stmt.h"

namespace tilewright::schedule {
namespace {

// Adds the conditions on the way from `stmt` down to the loop or block `target`; false: it is not there.
bool add_conditions(const Stmt& stmt, const Object* target, std::vector<PrimExpr>* conditions) {
  if (stmt.get() == target) return true;
  if (is<ForNode>(stmt) || is<BlockRealizeNode>(stmt)) return false;
  bool is_inside = false;
  for_each_inner(stmt, [&](const Stmt& inner) {
    if (is_inside || !add_conditions(inner, target, conditions)) return;
    is_inside = true;
    if (const auto* branch = stmt.as<IfThenElseNode>())
      conditions->push_back(inner == branch->then_case ? branch->condition
                                                       : NotNode::make(branch->condition));
    else if (runs_inner(stmt) != Runs::kOnce)
      conditions->push_back(make_var("perhaps", kBoolType));
  });
  return is_inside;
}

// All conditions inside of `outer` under which the statement `id` is reached; its own predicate is left out.
std::vector<PrimExpr> conditions_between(const State& state, NodeId outer, NodeId id) {
  std::vector<PrimExpr> conditions;
  for (; id != outer && state.node(id).parent != kNoNode; id = state.node(id).parent) {
    const TreeNode& parent = state.node(state.node(id).parent);
    add_conditions(parent.is_loop() ? parent.loop()->body : parent.block()->body, state.node(id).stmt.get(),
                   &conditions);
    if (!parent.is_loop() && state.node(id).parent != outer)
      conditions.push_back(parent.realize()->predicate);
  }
  for (PrimExpr& condition : conditions) {
    if (!analysis::can_be_followed(condition)) condition = make_var("perhaps", kBoolType);
  }
  return conditions;
}

}  // namespace

PrimExpr runs_where(const State& state, NodeId block, NodeId outer) {
  PrimExpr all = guard_outside(state, block, outer);
  for (const PrimExpr& condition : conditions_between(state, outer, block)) {
    bool is_outside = true;
    for (NodeId loop : loops_between(state, outer, block))
      is_outside &= !uses(condition, state.node(loop).loop()->loop_var.get());
    if (is_outside) all = logical_and(all, condition);
  }
  return all;
}

bool surely_writes(const State& state, NodeId writer, const Buffer& buffer,
                   const arith::IntervalRegion& needed, NodeId outer, const PrimExpr& where) {
  if (!state.proves_steps) return true;
  const arith::IterRanges around = ranges_of(state, loops_between(state, outer, writer));
  const std::vector<PrimExpr> conditions = conditions_between(state, outer, writer);
  for (const analysis::PlacedAccess& access : analysis::accesses_in_order(state.node(writer).stmt, buffer)) {
    if (!access.is_write || !access.has_known_indices()) continue;
    analysis::SureStore store{access.indices, around, bool_imm(true)};
    for (const PrimExpr& condition : conditions) store.predicate = logical_and(store.predicate, condition);
    for (const analysis::Step& step : access.path) {
      if (step.var) store.loops.emplace_back(step.var, step.range);
      if (step.condition) store.predicate = logical_and(store.predicate, step.condition);
    }
    arith::Analyzer analyzer;
    bind_loops_above(state, writer, analyzer);
    analyzer.require(where);
    if (analysis::writes_all(store, needed, analyzer)) return true;
  }
  return false;
}

bool is_covered_by_earlier(const State& state, const Access& read, NodeId inside) {
  if (!state.proves_steps) return true;
  for (const Access& write : accesses_below(state, inside)) {
    if (!write.is_write || write.buffer != read.buffer || !is_before(state, write.block, read.block))
      continue;
    const NodeId around = common_ancestor(state, write.block, read.block);
    arith::Analyzer analyzer;
    bind_loops_above(state, read.block, analyzer);
    const arith::IntervalRegion needed =
        arith::intersect(relaxed(state, read, around, analyzer),
                         arith::to_intervals(full_region(read.buffer)->region), analyzer);
    if (surely_writes(state, write.block, read.buffer, needed, around, runs_where(state, read.block, around)))
      return true;
  }
  return false;
}

}  // namespace tilewright::schedule
