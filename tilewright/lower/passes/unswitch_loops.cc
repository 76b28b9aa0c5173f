// A choice that is the same in every copy of an unrolled or vectorized loop is made before it, once for all.
//   for x in T.unroll(14): B[x] += T.if_then_else(0 < y and 0 < x, A[y - 1, x - 1], 0.0)
//   ->  if 0 < y: for x in T.unroll(14): B[x] += T.if_then_else(0 < x, A[y - 1, x - 1], 0.0)
//       else:     for x in T.unroll(14): B[x] += 0.0
// Both branches hold the loop, so that this is done only if all choices of the loop share the condition.
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/passes/num_nodes.h"
#include "tilewright/lower/passes/passes.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/fresh.h"
#include "tilewright/tir/op.h"

namespace tilewright::lower {
namespace {

// A loop larger than this many nodes is not copied.
constexpr int64_t kMaxNodes = 400;

using Conjuncts = std::vector<PrimExpr>;

void add_conjuncts(const PrimExpr& condition, Conjuncts& found) {
  if (const auto* both = condition.as<AndNode>()) {
    add_conjuncts(both->a, found);
    add_conjuncts(both->b, found);
  } else {
    found.push_back(condition);
  }
}

bool contains(const Conjuncts& conjuncts, const PrimExpr& one) {
  return std::any_of(conjuncts.begin(), conjuncts.end(),
                     [&](const PrimExpr& other) { return structural_equal(one, other); });
}

bool contains_all(const Conjuncts& conjuncts, const Conjuncts& others) {
  return std::all_of(others.begin(), others.end(),
                     [&](const PrimExpr& one) { return contains(conjuncts, one); });
}

const CallNode* as_choice(const CallNode* call) {
  const auto* op = call->op.as<ir::OpNode>();
  return op && op->name == "tir.if_then_else" ? call : nullptr;
}

Conjuncts conjuncts_of(const CallNode* choice) {
  Conjuncts found;
  add_conjuncts(choice->args[0], found);
  return found;
}

// Comparisons of what no turn changes, that cannot fail where they are not asked for.
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

// The condition that all choices of `loop` which depend on none of its turns share; else nothing.
Conjuncts shared_condition(const For& loop) {
  std::vector<const VarNode*> changing{loop->loop_var.get()};
  walk(
      loop->body, [&](const ForNode* inner) { changing.push_back(inner->loop_var.get()); },
      [&](const LetStmtNode* let) { changing.push_back(let->var.get()); },
      [&](const LetNode* let) { changing.push_back(let->var.get()); });
  Conjuncts shared;
  bool is_one = true;
  walk(loop->body, [&](const CallNode* call) {
    if (!as_choice(call)) return;
    Conjuncts own;
    for (const PrimExpr& condition : conjuncts_of(call)) {
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

// `loop` if all of `known` hold, or if they do not.
Stmt decided(const For& loop, const Conjuncts& known, bool holds) {
  return rewrite(Stmt(loop), [&](auto& self, const CallNode* node) -> PrimExpr {
    const PrimExpr call = self.children(node);
    const auto* choice = as_choice(call.as<CallNode>());
    if (!choice) return call;
    const Conjuncts own = conjuncts_of(choice);
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

}  // namespace

PrimFunc unswitch_loops(const PrimFunc& func) {
  return rewrite(func, [](auto& self, const ForNode* node) -> Stmt {
    const For loop(node);
    const Conjuncts shared =
        is_copied(node) && num_nodes(loop) <= kMaxNodes ? shared_condition(loop) : Conjuncts();
    if (shared.empty()) return self.children(node);
    // what is left of conditions may leave loops further inside
    const Stmt then_case = self(decided(loop, shared, true));
    return IfThenElseNode::make(all_of(shared), then_case, self(fresh_copy(decided(loop, shared, false))));
  });
}

}  // namespace tilewright::lower
