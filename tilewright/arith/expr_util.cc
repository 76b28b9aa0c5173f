// Iterative walks over scalar expressions, without the field tables.
#include "tilewright/arith/expr_util.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/field.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"

namespace tilewright::arith {
namespace {

constexpr int kMaxVisits = 100000;

// Collects the scalar operands of the common kinds of expression; returns false for other kinds.
bool operands(const PrimExprNode* expr, std::vector<const PrimExprNode*>* found) {
  const PrimExpr ref(expr);
  auto all = [&](const std::vector<PrimExpr>& list) {
    for (const PrimExpr& item : list) found->push_back(item.get());
  };
  if (const auto* node = ref.as<BinaryOpNode>())
    return found->push_back(node->a.get()), found->push_back(node->b.get()), true;
  switch (expr->kind) {
    case Kind::kVar:
    case Kind::kIntImm:
    case Kind::kFloatImm: return true;
    case Kind::kNot: return found->push_back(ref.as<NotNode>()->a.get()), true;
    case Kind::kCast: return found->push_back(ref.as<CastNode>()->value.get()), true;
    case Kind::kBufferLoad:
      return all(ref.as<BufferLoadNode>()->indices), !ref.as<BufferLoadNode>()->predicate;
    case Kind::kProducerLoad: return all(ref.as<ProducerLoadNode>()->indices), true;
    case Kind::kCall: return all(ref.as<CallNode>()->args), ref.as<CallNode>()->annotations.empty();
    case Kind::kRamp:
      return found->push_back(ref.as<RampNode>()->base.get()),
             found->push_back(ref.as<RampNode>()->stride.get()), true;
    case Kind::kBroadcast: return found->push_back(ref.as<BroadcastNode>()->value.get()), true;
    case Kind::kSelect: {
      const auto* node = ref.as<SelectNode>();
      return all({node->condition, node->true_value, node->false_value}), true;
    }
    default: return false;
  }
}

bool same_op(const Expr& a, const Expr& b) {
  const auto *x = a.as<OpNode>(), *y = b.as<OpNode>();
  return a == b || (x && y && x->name == y->name);
}

// Compares everything but the operands.
bool same_node(const PrimExprNode* a, const PrimExprNode* b) {
  const PrimExpr x(a), y(b);
  switch (a->kind) {
    case Kind::kVar: return false;  // equal only to itself
    case Kind::kIntImm: return x.as<IntImmNode>()->value == y.as<IntImmNode>()->value;
    case Kind::kFloatImm: return structural_equal(x, y);
    case Kind::kBufferLoad: return x.as<BufferLoadNode>()->buffer == y.as<BufferLoadNode>()->buffer;
    case Kind::kProducerLoad: return x.as<ProducerLoadNode>()->producer == y.as<ProducerLoadNode>()->producer;
    case Kind::kCall: return same_op(x.as<CallNode>()->op, y.as<CallNode>()->op);
    case Kind::kRamp: return x.as<RampNode>()->lanes == y.as<RampNode>()->lanes;
    case Kind::kBroadcast: return x.as<BroadcastNode>()->lanes == y.as<BroadcastNode>()->lanes;
    default: return true;
  }
}

}  // namespace

bool same_expr(const PrimExpr& a, const PrimExpr& b) {
  std::vector<std::pair<const PrimExprNode*, const PrimExprNode*>> pending{{a.get(), b.get()}};
  std::vector<const PrimExprNode*> x, y;
  for (int visits = 0; !pending.empty(); ++visits) {
    const auto [left, right] = pending.back();
    pending.pop_back();
    if (left == right) continue;
    if (visits > kMaxVisits || left->kind != right->kind || left->dtype != right->dtype) return false;
    x.clear();
    y.clear();
    if (!operands(left, &x) || !operands(right, &y)) {
      if (!structural_equal(PrimExpr(left), PrimExpr(right))) return false;
      continue;
    }
    if (!same_node(left, right) || x.size() != y.size()) return false;
    for (size_t n = 0; n < x.size(); ++n) pending.emplace_back(x[n], y[n]);
  }
  return true;
}

int64_t cost(const PrimExpr& expr) {
  std::vector<const PrimExprNode*> pending{expr.get()};
  int64_t total = 0;
  for (int visits = 0; !pending.empty() && visits < kMaxVisits; ++visits) {
    const PrimExprNode* node = pending.back();
    pending.pop_back();
    switch (node->kind) {
      case Kind::kVar:
      case Kind::kIntImm: continue;
      case Kind::kMul: total += is<IntImmNode>(PrimExpr(node).as<BinaryOpNode>()->b) ? 1 : 2; break;
      case Kind::kDiv:
      case Kind::kMod:
      case Kind::kFloorDiv:
      case Kind::kFloorMod: total += 5; break;
      default: total += 1;
    }
    operands(node, &pending);
  }
  return total;
}

bool any_node(const PrimExpr& expr, const std::function<bool(const Object*)>& holds) {
  std::vector<const PrimExprNode*> pending{expr.get()};
  std::unordered_set<const PrimExprNode*> seen;  // because nodes may be shared
  while (!pending.empty()) {
    const PrimExprNode* node = pending.back();
    pending.pop_back();
    if (node->refs.load(std::memory_order_relaxed) > 1 && node->kind != Kind::kVar &&
        !seen.insert(node).second)
      continue;
    if (holds(node)) return true;
    const size_t count = pending.size();
    if (operands(node, &pending)) continue;
    pending.resize(count);
    bool found = false;
    walk(node, [&](const ExprNode* part) { found = found || holds(part); });
    if (found) return true;
  }
  return false;
}

bool reads_memory(const PrimExpr& expr) {
  return any_node(expr, [](const Object* node) {
    if (node->kind == Kind::kCall) return !is_pure(static_cast<const CallNode*>(node)->op);
    return node->kind == Kind::kBufferLoad;
  });
}

bool is_harmless(const PrimExpr& expr) {
  std::vector<const PrimExprNode*> pending{expr.get()};
  for (int visits = 0; !pending.empty(); ++visits) {
    const PrimExprNode* node = pending.back();
    pending.pop_back();
    if (as_open_division(node)) return false;
    const bool is_known =
        node->kind != Kind::kCall && node->kind != Kind::kBufferLoad && node->kind != Kind::kProducerLoad;
    if (visits > kMaxVisits || !is_known || !operands(node, &pending)) return false;
  }
  return true;
}

bool is_arithmetic(const PrimExpr& expr) {
  return !any_node(expr, [](const Object* node) {
    if (const auto* call = ObjectRef(node).as<CallNode>())
      return !is_pure(call->op) || call->args.empty() ||
             std::any_of(call->args.begin(), call->args.end(), [](const PrimExpr& arg) {
               return arg->dtype.is_handle() || is<StringImmNode>(arg);
             });
    return BufferLoadNode::classof(*node) || ProducerLoadNode::classof(*node);
  });
}

const BinaryOpNode* as_open_division(const PrimExprNode* node) {
  const bool is_division = node->kind == Kind::kDiv || node->kind == Kind::kMod ||
                           node->kind == Kind::kFloorDiv || node->kind == Kind::kFloorMod;
  if (!is_division || !node->dtype.is_integral()) return nullptr;
  const auto* division = static_cast<const BinaryOpNode*>(node);
  const auto* vector = division->b.as<BroadcastNode>();
  const auto* divisor = (vector ? vector->value : division->b).as<IntImmNode>();
  return !divisor || divisor->value == 0 ? division : nullptr;
}

std::vector<const BinaryOpNode*> sure_divisions(const PrimExpr& expr) {
  std::vector<const BinaryOpNode*> found;
  const auto append = [&](const PrimExpr& part) {
    for (const BinaryOpNode* division : sure_divisions(part)) found.push_back(division);
    return false;
  };
  walk(
      expr, [&](const AndNode* node) { return append(node->a); },
      [&](const OrNode* node) { return append(node->a); },
      [&](const SelectNode* node) { return append(node->condition); },
      [&](const LetNode* node) { return append(node->value); }, [&](const BufferLoadNode*) { return false; },
      [&](const CallNode* call) { return is_if_then_else(call) ? append(call->args[0]) : true; },
      [&](const PrimExprNode* node) {
        const BinaryOpNode* division = as_open_division(node);
        if (!division) return true;
        append(division->a), append(division->b);
        found.push_back(division);
        return false;
      });
  return found;
}

PrimExpr in_int64(const PrimExpr& expr) {
  const auto wide = [](const PrimExpr& part) { return tir::cast(kInt64, in_int64(part)); };
  if (const auto* node = expr.as<CastNode>())
    return node->dtype == kInt64 && node->value->dtype == kInt32 ? wide(node->value) : expr;
  if (const auto* node = expr.as<NotNode>()) return tir::logical_not(in_int64(node->a));
  if (const auto* node = expr.as<SelectNode>(); node && is_index(node->dtype))
    return tir::select(in_int64(node->condition), wide(node->true_value), wide(node->false_value));
  const auto* op = expr.as<BinaryOpNode>();
  if (!op || !op->dtype.is_scalar()) return expr;
  const bool is_logic = op->kind == Kind::kAnd || op->kind == Kind::kOr;
  if (!is_logic && !is_index(op->a->dtype)) return expr;
  const PrimExpr a = in_int64(op->a), b = in_int64(op->b);
  const bool is_comparison = op->dtype.is_bool() && !is_logic;
  if (is_logic || (is_comparison && a == op->a && b == op->b)) return tir::binary(op->kind, a, b);
  return tir::binary(op->kind, tir::cast(kInt64, a), tir::cast(kInt64, b));
}

bool is_always_zero(const PrimExpr& expr) {
  if (!expr->dtype.is_integral()) return false;
  if (expr->kind == Kind::kVar || expr->kind == Kind::kBufferLoad) return false;
  return is_zero(expr) || is_zero(simplify(expr));
}

}  // namespace tilewright::arith
