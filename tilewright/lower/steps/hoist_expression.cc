// Moves conditions and definitions that are the same in every iteration out of a loop.
//   for j in range(n): if i < 100: body        ->  if i < 100: for j in range(n): body
//   for j in range(n): x = i * 64; body        ->  x = i * 64; for j in range(n): body
// Only the first statement of a loop's body is moved, so that the order of execution stays the same.
// Divisions of indices that only some iterations execute are moved as well:
//   for j in range(n): if j > i: A[j] = B[i % n]  ->  q = i % n; for j in range(n): if j > i: A[j] = B[q]
// because LLVM 19 vectorises such loops so that the division is done only if the first lane needs it.
#include <unordered_set>

#include "tilewright/analysis/trip_count.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/step.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"

namespace tilewright::lower {
namespace {

// Everything that the iterations of a loop change.
struct Changes {
  std::unordered_set<const VarNode*> vars, memory;
  bool calls_out = false;  // calls a function that may write anywhere
};

Changes changes_in(const For& loop) {
  Changes changes;
  changes.vars.insert(loop->loop_var.get());
  walk(
      loop->body, [&](const BufferStoreNode* store) { changes.memory.insert(store->buffer->data.get()); },
      [&](const BlockNode* block) {
        for (const BufferRegion& write : block->writes) changes.memory.insert(write->buffer->data.get());
      },
      [&](const ForNode* inner) { changes.vars.insert(inner->loop_var.get()); },
      [&](const LetStmtNode* let) { changes.vars.insert(let->var.get()); },
      [&](const LetNode* let) { changes.vars.insert(let->var.get()); },
      [&](const AllocBufferNode* alloc) { changes.vars.insert(alloc->buffer->data.get()); },
      [&](const DeclBufferNode* view) { changes.memory.insert(view->buffer->data.get()); },
      [&](const CallNode* call) { changes.calls_out |= !is_pure(call->op); });
  return changes;
}

bool is_invariant(const PrimExpr& expr, const Changes& changes) {
  bool found = true;
  walk(
      expr, [&](const VarNode* var) { found &= !changes.vars.contains(var); },
      [&](const BufferLoadNode* load) {
        const VarNode* data = load->buffer->data.get();
        found &= !changes.calls_out && !changes.memory.contains(data) && !changes.vars.contains(data);
      },
      [&](const CallNode* call) { found &= is_pure(call->op); });
  return found;
}

// True if `expr` may be computed even if the loop has no iteration: comparisons of available values cannot
// fail.
bool is_harmless(const PrimExpr& expr) {
  bool found = true;
  walk(expr, [&](const PrimExprNode* part) {
    const Kind kind = part->kind;
    const bool is_comparison = kind >= Kind::kEQ && kind <= Kind::kOr;
    found &= is_comparison || kind == Kind::kNot || kind == Kind::kVar || kind == Kind::kIntImm ||
             kind == Kind::kFloatImm;
  });
  return found;
}

// True for an integer division by a non-constant, of operands made of variables only.
bool is_index_division(const BinaryOpNode* division) {
  int64_t constant;
  bool found =
      division->dtype.is_int() && division->dtype.is_scalar() && !as_const_int(division->b, &constant);
  walk(division, [&](const PrimExprNode* part) {
    const Kind kind = part->kind;
    found &= kind == Kind::kVar || kind == Kind::kIntImm || kind == Kind::kCast || kind == Kind::kAdd ||
             kind == Kind::kSub || kind == Kind::kMul || kind == Kind::kMin || kind == Kind::kMax ||
             kind == Kind::kFloorDiv || kind == Kind::kFloorMod;
  });
  return found;
}

using Quotients = std::vector<std::pair<PrimExpr, Var>>;

Var quotient_of(const Quotients& quotients, const PrimExpr& division) {
  for (const auto& [known, var] : quotients) {
    if (structural_equal(known, division)) return var;
  }
  return nullptr;
}

// The divisions under branches of the loop that no iteration changes, each with a variable.
Quotients conditional_divisions(const For& loop) {
  const Changes changes = changes_in(loop);
  Quotients found;
  auto take = [&](const auto* division) {
    const PrimExpr expr(division);
    if (is_index_division(division) && is_invariant(expr, changes) && !quotient_of(found, expr))
      found.emplace_back(expr, make_var("q", expr->dtype));
  };
  auto take_below = [&](const ObjectRef& root) {
    if (root)
      walk(
          root, [&](const FloorDivNode* node) { take(node); }, [&](const FloorModNode* node) { take(node); });
  };
  walk(
      loop->body,
      [&](const IfThenElseNode* branch) {
        take_below(branch->then_case);
        take_below(branch->else_case);
      },
      [&](const CallNode* call) {
        if (!is_if_then_else(call)) return;
        take_below(call->args[1]);
        take_below(call->args[2]);
      });
  return found;
}

Stmt with_quotients_before(const For& loop) {
  if (loop->for_kind != ForKind::kSerial) return loop;
  const Quotients quotients = conditional_divisions(loop);
  if (quotients.empty()) return loop;
  const auto replaced = [&](auto& self, const auto* division) -> PrimExpr {
    const Var var = quotient_of(quotients, PrimExpr(division));
    return var ? PrimExpr(var) : PrimExpr(self.children(division));
  };
  Stmt result = with(loop, [&](ForNode& changed) {
    changed.body = rewrite(
        loop->body, [&](auto& self, const FloorDivNode* node) -> PrimExpr { return replaced(self, node); },
        [&](auto& self, const FloorModNode* node) -> PrimExpr { return replaced(self, node); });
  });
  for (size_t n = quotients.size(); n-- > 0;)
    result = LetStmtNode::make(quotients[n].first, quotients[n].second, result);
  return result;
}

Stmt hoisted(const For& loop) {
  if (loop->for_kind == ForKind::kThreadBinding) return loop;
  const auto* branch = loop->body.as<IfThenElseNode>();
  const auto* let = loop->body.as<LetStmtNode>();
  if (!branch && !let) return loop;
  const PrimExpr& expr = branch ? branch->condition : let->value;
  if (!is_invariant(expr, changes_in(loop))) return loop;
  if (!analysis::surely_runs(loop->extent) && !is_harmless(expr)) return loop;
  const auto around = [&](const Stmt& body) { return with(loop, [&](ForNode& n) { n.body = body; }); };
  if (let) return with(let, [&](LetStmtNode& n) { n.body = hoisted(around(let->body)); });
  return with(branch, [&](IfThenElseNode& n) {
    n.then_case = hoisted(around(branch->then_case));
    if (!branch->else_case) return;
    const Var other_var = make_var(loop->loop_var->name_hint, loop->loop_var->dtype);
    const Stmt body = substitute(branch->else_case, {{loop->loop_var.get(), other_var}});
    n.else_case = hoisted(with(loop, [&](ForNode& other) { other.loop_var = other_var, other.body = body; }));
  });
}

PrimFunc hoist_expression(const PrimFunc& func) {
  return rewrite(func, [](auto& self, const ForNode* node) -> Stmt {
    const Stmt loop = hoisted(self.children(node));
    return is<ForNode>(loop) ? with_quotients_before(ref_as<ForNode>(loop)) : loop;
  });
}

}  // namespace

extern constinit const StepInfo hoist_expression_info = {
    .name = "hoist_expression",
    .doc = "conditions and definitions that no iteration of a loop changes stand before it",
    .without = kBlocks,
    .run = without_options<hoist_expression>,
};

}  // namespace tilewright::lower
