// Loop unswitching: a selection that is the same in every copy of an unrolled or vectorized loop becomes a
// branch before the loop.
//   for x in T.unroll(14): B[x] += T.if_then_else(0 < y and 0 < x, A[y - 1, x - 1], 0.0)
//   ->  if 0 < y: for x in T.unroll(14): B[x] += T.if_then_else(0 < x, A[y - 1, x - 1], 0.0)
//       else:     for x in T.unroll(14): B[x] += 0.0
// Both branches contain the loop, so this is done only if all selections of the loop share the condition.
#include <algorithm>

#include "tilewright/arith/iter_parse.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/common/num_nodes.h"
#include "tilewright/lower/step.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/fresh.h"
#include "tilewright/tir/op.h"

namespace tilewright::lower {
namespace {

// The limit on the nodes of copied loops, all of a function together: loops inside copies are copied again.
constexpr int64_t kMaxNodes = 2000;

using Conjuncts = std::vector<PrimExpr>;

bool contains(const Conjuncts& conjuncts, const PrimExpr& one) {
  return std::any_of(conjuncts.begin(), conjuncts.end(),
                     [&](const PrimExpr& other) { return structural_equal(one, other); });
}

bool contains_all(const Conjuncts& conjuncts, const Conjuncts& others) {
  return std::all_of(others.begin(), others.end(),
                     [&](const PrimExpr& one) { return contains(conjuncts, one); });
}

// True for comparisons of values that no iteration changes, and that cannot fail if evaluated early.
bool is_decided_before(const PrimExpr& condition, const std::vector<const VarNode*>& changing) {
  bool found = true;
  walk(condition, [&](const PrimExprNode* part) {
    const Kind kind = part->kind;
    const bool is_comparison = kind >= Kind::kEQ && kind <= Kind::kOr;
    found &= is_comparison || kind == Kind::kNot || kind == Kind::kVar || kind == Kind::kIntImm ||
             kind == Kind::kAdd || kind == Kind::kSub || kind == Kind::kMul;
  });
  walk(condition, [&](const VarNode* var) {
    found &= var->dtype.is_int() && std::find(changing.begin(), changing.end(), var) == changing.end();
  });
  return found;
}

// The condition shared by all selections of `loop` that do not depend on its iterations; else nullopt.
Conjuncts shared_condition(const For& loop) {
  std::vector<const VarNode*> changing{loop->loop_var.get()};
  walk(
      loop->body, [&](const ForNode* inner) { changing.push_back(inner->loop_var.get()); },
      [&](const LetStmtNode* let) { changing.push_back(let->var.get()); },
      [&](const LetNode* let) { changing.push_back(let->var.get()); });
  Conjuncts shared;
  bool is_one = true;
  walk(loop->body, [&](const CallNode* call) {
    if (!is_if_then_else(call)) return;
    Conjuncts own;
    for (const PrimExpr& condition : arith::conjuncts(call->args[0])) {
      if (is_decided_before(condition, changing) && !contains(own, condition)) own.push_back(condition);
    }
    if (own.empty()) return;
    if (shared.empty()) shared = own;
    is_one &= contains_all(shared, own) && contains_all(own, shared);
  });
  return is_one ? shared : Conjuncts();
}

PrimExpr all_of(const Conjuncts& conjuncts) {
  PrimExpr all = conjuncts[0];
  for (size_t n = 1; n < conjuncts.size(); ++n) all = AndNode::make(all, conjuncts[n]);
  return all;
}

// `loop` under the assumption that all of `known` hold, or that they do not.
Stmt decided(const For& loop, const Conjuncts& known, bool holds) {
  return rewrite(Stmt(loop), [&](auto& self, const CallNode* node) -> PrimExpr {
    const PrimExpr call = self.children(node);
    const auto* choice = call.as<CallNode>();
    if (!is_if_then_else(choice)) return call;
    const Conjuncts own = arith::conjuncts(choice->args[0]);
    if (!contains_all(own, known)) return call;
    if (!holds) return ref_as<PrimExprNode>(choice->args[2]);
    Conjuncts open;
    for (const PrimExpr& condition : own) {
      if (!contains(known, condition)) open.push_back(condition);
    }
    if (open.empty()) return ref_as<PrimExprNode>(choice->args[1]);
    return with(choice, [&](CallNode& changed) { changed.args[0] = all_of(open); });
  });
}

bool is_copied(const ForNode* loop) {
  return loop->for_kind == ForKind::kUnrolled || loop->for_kind == ForKind::kVectorized;
}

PrimFunc unswitch_loops(const PrimFunc& func) {
  int64_t num_left = kMaxNodes;
  return rewrite(func, [&](auto& self, const ForNode* node) -> Stmt {
    const For loop(node);
    const Conjuncts shared = is_copied(node) ? shared_condition(loop) : Conjuncts();
    const int64_t size = shared.empty() ? 0 : num_nodes(loop);
    if (shared.empty() || size > num_left) return self.children(node);
    num_left -= size;
    // remaining conditions may be moved out of inner loops
    const Stmt then_case = self(decided(loop, shared, true));
    return IfThenElseNode::make(all_of(shared), then_case, self(fresh_copy(decided(loop, shared, false))));
  });
}

}  // namespace

extern constinit const StepInfo unswitch_loops_info = {
    .name = "unswitch_loops",
    .doc =
        "a choice (`T.if_then_else`) that no iteration of an unrolled or vectorized loop changes is "
        "a branch around it",
    .uses = kUnrolledLoops | kVectorLoops,
    .run = without_options<unswitch_loops>,
};

}  // namespace tilewright::lower
