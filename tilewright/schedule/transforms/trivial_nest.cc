#include "tilewright/schedule/transforms/trivial_nest.h"

#include <algorithm>

#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {

std::vector<NodeId> require_trivial_nest(const State& state, NodeId id) {
  const BlockRealizeNode* realize = state.node(id).realize();
  std::vector<NodeId> loops;
  for (size_t n = 0; n < realize->iter_values.size(); ++n) {
    const IterVar& axis = realize->block->iter_vars[n];
    const auto* var = realize->iter_values[n].as<VarNode>();
    const auto above = state.loops_above(id);
    const auto loop = std::find_if(above.begin(), above.end(), [&](NodeId each) {
      return state.node(each).loop()->loop_var.get() == var;
    });
    if (loop == above.end() || std::find(loops.begin(), loops.end(), *loop) != loops.end())
      throw refuse(state, id, "axis {} of block {} is not a loop of its own, but {}", axis->var->name_hint,
                   state.node(id).name, text(realize->iter_values[n]));
    arith::Analyzer analyzer;
    const ForNode* node = state.node(*loop).loop();
    if (!is_zero(node->min) || !is_zero(axis->dom->min) ||
        !analyzer.can_prove_equal(node->extent, axis->dom->extent))
      throw refuse(state, *loop, "loop {} runs over [{}, {}) and axis {} over [{}, {}): both must be [0, n)",
                   state.node(*loop).name, text(node->min), text(analyzer.simplify(node->min + node->extent)),
                   axis->var->name_hint, text(axis->dom->min),
                   text(analyzer.simplify(axis->dom->min + axis->dom->extent)));
    require_plain(state, *loop);
    loops.push_back(*loop);
  }
  if (!is_one(realize->predicate))
    throw refuse(state, id, "block {} runs only where {}", state.node(id).name, text(realize->predicate));
  const std::vector<NodeId> above = state.loops_above(id);
  std::vector<NodeId> nest(above.end() - static_cast<long>(loops.size()), above.end());
  for (NodeId loop : nest) {
    if (std::find(loops.begin(), loops.end(), loop) == loops.end())
      throw refuse(state, loop, "loop {} chooses no axis of block {}, but is inside of loops that do",
                   state.node(loop).name, state.node(id).name);
  }
  require_chain(state, nest);
  if (!nest.empty() && state.node(nest.back()).loop()->body.get() != realize)
    throw refuse(state, id, "block {} is not the only statement in loop {}", state.node(id).name,
                 state.node(nest.back()).name);
  return nest;
}

}  // namespace tilewright::schedule
