#include "tilewright/schedule/core/loops.h"

#include "tilewright/ir/walk.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {

arith::IterRanges ranges_of(const State& state, const std::vector<NodeId>& loops) {
  arith::IterRanges ranges;
  for (NodeId id : loops) {
    const ForNode* loop = state.node(id).loop();
    ranges.emplace_back(loop->loop_var, make_range(loop->min, loop->extent));
  }
  return ranges;
}

void bind_loops_above(const State& state, NodeId id, arith::Analyzer& analyzer) {
  // outermost first: what is known of a variable is forgotten when another that it uses is bound
  arith::IterRanges ranges;
  for (id = state.node(id).parent; id != kNoNode; id = state.node(id).parent) {
    if (const ForNode* loop = state.node(id).loop()) {
      ranges.emplace_back(loop->loop_var, make_range(loop->min, loop->extent));
    } else {
      for (const IterVar& axis : state.node(id).block()->iter_vars) ranges.emplace_back(axis->var, axis->dom);
    }
  }
  for (auto entry = ranges.rbegin(); entry != ranges.rend(); ++entry)
    analyzer.bind(entry->first, entry->second);
}

void require_plain(const State& state, NodeId id) {
  const ForNode* loop = state.node(id).loop();
  const std::string& name = loop->loop_var->name_hint;
  if (loop->for_kind == ForKind::kThreadBinding)
    throw refuse(state, id, "loop {} is bound to {}", name, loop->thread_tag);
  if (loop->for_kind != ForKind::kSerial) {
    const char* kind = loop->for_kind == ForKind::kParallel     ? "parallel"
                       : loop->for_kind == ForKind::kVectorized ? "vectorized"
                                                                : "unrolled";
    throw refuse(state, id, "loop {} is {}", name, kind).help("reshape loops first, then say how they run");
  }
  if (!loop->annotations.empty())
    throw refuse(state, id, "loop {} has annotation \"{}\"", name, loop->annotations.begin()->first)
        .help("remove it with unannotate, or annotate after reshaping");
}

std::optional<int64_t> const_extent(const ForNode* loop) {
  int64_t value;
  if (as_const_int(loop->extent, &value)) return value;
  return std::nullopt;
}

Stmt substitute_loops(const Stmt& body, const Substitution& values, arith::Analyzer& analyzer) {
  auto put = [&](const PrimExpr& expr) {
    PrimExpr changed = substitute(expr, values);
    return changed == expr ? expr : analyzer.simplify(changed);
  };
  return rewrite(
      body,
      [&](auto& self, const ForNode* loop) -> Stmt {
        PrimExpr min = put(loop->min), extent = put(loop->extent);
        const auto scope = analyzer.enter();
        analyzer.bind(loop->loop_var, make_range(min, extent));
        Stmt inner = self(loop->body);
        if (min == loop->min && extent == loop->extent && inner == loop->body) return Stmt(loop);
        return with(loop, [&](ForNode& n) { n.min = min, n.extent = extent, n.body = inner; });
      },
      [&](auto&, const BlockRealizeNode* realize) -> Stmt {
        std::vector<PrimExpr> bindings;
        for (const PrimExpr& value : realize->iter_values) bindings.push_back(put(value));
        PrimExpr predicate = put(realize->predicate);
        Block block = substitute(realize->block, values);
        if (bindings == realize->iter_values && predicate == realize->predicate && block == realize->block)
          return Stmt(realize);
        return with(realize, [&](BlockRealizeNode& n) {
          n.iter_values = bindings, n.predicate = predicate, n.block = block;
        });
      },
      [&](auto&, const PrimExprNode* expr) -> PrimExpr { return put(PrimExpr(expr)); });
}

namespace {
// True if `stmt` computes something outside of the blocks directly inside of it.
bool has_bare_statements(const Stmt& stmt) {
  bool found = false;
  walk(
      stmt, [&](const BlockRealizeNode*) { return false; }, [&](const BufferStoreNode*) { found = true; },
      [&](const EvaluateNode*) { found = true; }, [&](const AssertStmtNode*) { found = true; },
      [&](const PrimExprNode*) { return false; });
  return found;
}
}  // namespace

Stmt guarded(const Stmt& body, const PrimExpr& condition, arith::Analyzer& analyzer) {
  const PrimExpr guard = analyzer.simplify(condition);
  if (is_one(guard)) return body;
  if (has_bare_statements(body)) return IfThenElseNode::make(guard, body);
  return rewrite(body, [&](auto&, const BlockRealizeNode* realize) -> Stmt {
    return with(realize, [&](BlockRealizeNode& n) {
      n.predicate = is_one(n.predicate) ? guard : logical_and(n.predicate, guard);
    });
  });
}

void require_chain(const State& state, const std::vector<NodeId>& loops) {
  for (size_t n = 1; n < loops.size(); ++n) {
    const ForNode* outer = state.node(loops[n - 1]).loop();
    const ForNode* inner = state.node(loops[n]).loop();
    if (outer->body.get() == inner) continue;
    if (state.node(loops[n]).parent == loops[n - 1])
      throw refuse(state, loops[n], "loop {} is not the only statement in loop {}",
                   inner->loop_var->name_hint, outer->loop_var->name_hint);
    throw refuse(state, loops[n], "loop {} is not directly inside loop {}", inner->loop_var->name_hint,
                 outer->loop_var->name_hint)
        .note(locate(state, loops[n - 1]), "this is loop {}", outer->loop_var->name_hint);
  }
}

NodeId common_ancestor(const State& state, NodeId a, NodeId b) {
  for (; a != kNoNode; a = state.node(a).parent) {
    if (state.is_inside(b, a)) return a;
  }
  return kNoNode;
}

NodeId child_towards(const State& state, NodeId ancestor, NodeId id) {
  while (id != kNoNode && state.node(id).parent != ancestor) id = state.node(id).parent;
  return id;
}

bool is_before(const State& state, NodeId a, NodeId b) {
  const NodeId lowest = common_ancestor(state, a, b);
  if (lowest == kNoNode || lowest == a || lowest == b) return false;
  const auto& children = state.node(lowest).children;
  const NodeId a_side = child_towards(state, lowest, a), b_side = child_towards(state, lowest, b);
  for (NodeId child : children) {
    if (child == a_side) return child != b_side;
    if (child == b_side) return false;
  }
  return false;
}

}  // namespace tilewright::schedule
