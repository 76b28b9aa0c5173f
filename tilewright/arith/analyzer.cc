// The public interface of the analyzer.
#include "tilewright/arith/analyzer.h"

#include "tilewright/arith/expr_util.h"
#include "tilewright/arith/state.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/tir/arithmetic.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"

namespace tilewright::arith {
namespace {

struct Call {
  explicit Call(Analyzer::State& state) : state(state) {}
  ~Call() { state.end_call(); }
  Analyzer::State& state;
};

bool has_effect(const PrimExpr& expr) {
  return any_node(expr, [](const Object* node) {
    const auto* call = node->kind == Kind::kCall ? static_cast<const CallNode*>(node) : nullptr;
    return call && !is_pure(call->op);
  });
}

}  // namespace

Analyzer::Analyzer() : state_(std::make_unique<State>()) {}
Analyzer::~Analyzer() = default;

void Analyzer::bind(const Var& var, const Range& range) {
  const Call call(*state_);
  try {
    state_->bind_range(var.get(), state_->import(range->min), state_->import(range->extent));
  } catch (const HasEffect&) {  // the range is then unknown
    state_->bind_range(var.get(), state_->import(var), state_->constant(1, var->dtype));
  }
}

void Analyzer::bind(const Var& var, PrimExpr value) {
  const Call call(*state_);
  try {
    state_->bind_value(var.get(), state_->import(value));
  } catch (const HasEffect&) {
  }
}

void Analyzer::require(const PrimExpr& condition) {
  const Call call(*state_);
  try {
    state_->learn(state_->import(condition), true);
  } catch (const HasEffect&) {
  }
}

Analyzer::Scope Analyzer::enter() { return Scope(this, state_->open_scope()); }

Analyzer::Scope Analyzer::assume(const PrimExpr& condition) {
  Scope scope = enter();
  require(condition);
  return scope;
}

Analyzer::Scope::~Scope() {
  if (analyzer_) analyzer_->state_->close_scope(mark_);
}

PrimExpr Analyzer::simplify(const PrimExpr& expr) {
  if (is<IntImmNode>(expr)) return expr;
  const Call call(*state_);
  try {
    PrimExpr result = state_->export_term(state_->import(expr));
    if (same_expr(result, expr) || cost(result) > cost(expr)) return expr;
    return result;
  } catch (const HasEffect&) {
  }
  // calls with effects stay in place, and the pure parts around and inside them are simplified
  return rewrite(expr, [&](auto& self, const PrimExprNode* node) -> PrimExpr {
    const PrimExpr part(node);
    return has_effect(part) ? PrimExpr(self.children(node)) : simplify(part);
  });
}

bool Analyzer::can_prove(const PrimExpr& condition) {
  if (const auto* literal = condition.as<IntImmNode>()) return literal->value != 0;
  const Call call(*state_);
  try {
    return state_->proves(state_->import(condition));
  } catch (const HasEffect&) {
    return false;
  }
}

bool Analyzer::can_prove_equal(const PrimExpr& a, const PrimExpr& b) {
  if (a == b) return true;
  if (a->dtype != b->dtype) return can_prove(equal(a, b));
  const Call call(*state_);
  try {
    const Id x = state_->import(a), y = state_->import(b);
    if (x == y) return true;
    if (!is_index(a->dtype)) return false;
    return state_->proves(state_->equal_0(state_->terms.linear(x) - state_->terms.linear(y), a->dtype));
  } catch (const HasEffect&) {
  } catch (const NotRepresentable&) {
  }
  return false;
}

ConstBounds Analyzer::const_bounds(const PrimExpr& expr) {
  const Call call(*state_);
  try {
    const DataType dtype = expr->dtype;
    if (!dtype.is_scalar() || (!dtype.is_integral() && !dtype.is_bool())) return {};
    return state_->bounds(state_->import(expr));
  } catch (const HasEffect&) {
    return bounds_of_dtype(expr->dtype);
  }
}

ModularSet Analyzer::modular_set(const PrimExpr& expr) {
  const Call call(*state_);
  try {
    return state_->modular(state_->import(expr));
  } catch (const HasEffect&) {
    return {};
  }
}

PrimExpr simplify(const PrimExpr& expr) { return Analyzer().simplify(expr); }

}  // namespace tilewright::arith
