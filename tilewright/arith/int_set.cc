// Intervals of expressions: each operation is evaluated on the ends of its operands' intervals; facts about
// the whole expression are applied last.
#include "tilewright/arith/int_set.h"

#include <algorithm>

#include "tilewright/arith/expr_util.h"
#include "tilewright/arith/state.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"

namespace tilewright::arith {
using tir::operator+, tir::operator-, tir::operator*;  // in addition to those of Linear and ConstBounds

namespace {

constexpr int kMaxDepth = 200;

bool is_point(const Interval& set) { return set.min && set.min == set.max; }

class Evaluator {
 public:
  Evaluator(const Domains& domains, Analyzer& analyzer) : domains_(domains), analyzer_(analyzer) {}

  Interval eval(const PrimExpr& expr) {
    if (depth_ >= kMaxDepth) return Interval::everything();
    ++depth_;
    Interval result = node(expr);
    --depth_;
    return result;
  }

  bool uses_domain(const PrimExpr& expr) const {
    return any_node(expr, [&](const Object* node) {
      return node->kind == Kind::kVar && domains_.count(static_cast<const VarNode*>(node)) > 0;
    });
  }

 private:
  Interval node(const PrimExpr& expr) {
    if (is<IntImmNode>(expr)) return Interval::point(expr);
    if (const auto* var = expr.as<VarNode>()) return variable(expr, var);
    if ((expr->kind == Kind::kAdd || expr->kind == Kind::kSub) && is_index(expr->dtype)) return sum(expr);
    if (const auto* binary = expr.as<BinaryOpNode>(); binary && is_index(expr->dtype)) {
      const Interval a = eval(binary->a), b = eval(binary->b);
      return is_point(a) && is_point(b) && a.min == binary->a && b.min == binary->b ? Interval::point(expr)
                                                                                    : operation(expr, a, b);
    }
    if (const auto* select = expr.as<SelectNode>())
      return choice(expr, select->condition, select->true_value, select->false_value);
    const auto* call = expr.as<CallNode>();
    const auto* op = call ? call->op.as<OpNode>() : nullptr;
    if (op && op->name == "tir.if_then_else")
      return choice(expr, call->args[0], call->args[1], call->args[2]);
    if (op && op->name == "tir.likely") return eval(call->args[0]);
    if (const auto* conversion = expr.as<CastNode>()) return converted(expr, conversion);
    return uses_domain(expr) ? constants(expr) : Interval::point(expr);
  }

  // Evaluates a sum of any length without recursion along it.
  Interval sum(const PrimExpr& expr) {
    const PrimExpr zero = make_const_int(expr->dtype, 0);
    Interval total{zero, zero};
    bool is_changed = false;
    std::vector<std::pair<PrimExpr, bool>> pending{{expr, false}};
    while (!pending.empty()) {
      const auto [part, is_negative] = pending.back();
      pending.pop_back();
      if (part->kind == Kind::kAdd || part->kind == Kind::kSub) {
        const auto* node = part.as<BinaryOpNode>();
        pending.emplace_back(node->b, is_negative != (part->kind == Kind::kSub));
        pending.emplace_back(node->a, is_negative);
        continue;
      }
      const Interval value = eval(part);
      is_changed |= value.min != part || value.max != part;
      const PrimExpr &low = is_negative ? value.max : value.min, &high = is_negative ? value.min : value.max;
      if (!low && !high) return constants(expr);
      const Kind kind = is_negative ? Kind::kSub : Kind::kAdd;
      total = {both(total.min, low, kind), both(total.max, high, kind)};
    }
    return is_changed ? total : Interval::point(expr);
  }

  // The ends of a domain may use other variables that have domains.
  Interval variable(const PrimExpr& expr, const VarNode* var) {
    auto it = domains_.find(var);
    if (it == domains_.end()) return Interval::point(expr);
    const Interval& domain = it->second;
    Interval result;
    if (domain.min) result.min = eval(domain.min).min;
    if (domain.max) result.max = eval(domain.max).max;
    return result;
  }

  Interval choice(const PrimExpr& expr, const PrimExpr& condition, const PrimExpr& a, const PrimExpr& b) {
    if (!uses_domain(expr)) return Interval::point(expr);
    Interval x, y;
    {
      auto scope = analyzer_.assume(condition);
      x = eval(analyzer_.simplify(a));
    }
    {
      auto scope = analyzer_.assume(logical_not(condition));
      y = eval(analyzer_.simplify(b));
    }
    return hull(x, y, analyzer_);
  }

  Interval converted(const PrimExpr& expr, const CastNode* conversion) {
    const DataType from = conversion->value->dtype;
    if (!is_index(expr->dtype) || !is_index(from))
      return uses_domain(expr) ? constants(expr) : Interval::point(expr);
    const Interval value = eval(conversion->value);
    Interval result;
    if (value.min) result.min = cast(expr->dtype, value.min);
    if (value.max) result.max = cast(expr->dtype, value.max);
    return result;
  }

  Interval operation(const PrimExpr& expr, const Interval& a, const Interval& b) {
    switch (expr->kind) {
      case Kind::kMin:
        return {both(a.min, b.min, Kind::kMin), a.max && b.max ? min(a.max, b.max) : a.max ? a.max : b.max};
      case Kind::kMax:
        return {a.min && b.min ? max(a.min, b.min) : a.min ? a.min : b.min, both(a.max, b.max, Kind::kMax)};
      case Kind::kMul: return product(expr, a, b);
      case Kind::kFloorDiv:
        if (!is_point(b)) break;
        if (proves(b.min > 0))
          return {both(a.min, b.min, Kind::kFloorDiv), both(a.max, b.min, Kind::kFloorDiv)};
        if (proves(b.min < 0))
          return {both(a.max, b.min, Kind::kFloorDiv), both(a.min, b.min, Kind::kFloorDiv)};
        break;
      case Kind::kFloorMod: return remainder(expr, a, b);
      default: break;
    }
    return constants(expr);
  }

  Interval product(const PrimExpr& expr, const Interval& a, const Interval& b) {
    if (is_point(a) && !is_point(b)) return product(expr, b, a);
    if (is_point(b)) {
      if (proves(b.min >= 0)) return {both(a.min, b.min, Kind::kMul), both(a.max, b.min, Kind::kMul)};
      if (proves(b.min <= 0)) return {both(a.max, b.min, Kind::kMul), both(a.min, b.min, Kind::kMul)};
      return constants(expr);
    }
    if (a.min && b.min && proves(a.min >= 0) && proves(b.min >= 0))
      return {a.min * b.min, both(a.max, b.max, Kind::kMul)};
    return constants(expr);
  }

  // x % c is x - q * c if x // c is always q; else it is anywhere in [0, c - 1]
  Interval remainder(const PrimExpr& expr, const Interval& a, const Interval& b) {
    if (!is_point(b) || !proves(b.min > 0)) return constants(expr);
    if (a.is_bounded() && analyzer_.can_prove_equal(floordiv(a.min, b.min), floordiv(a.max, b.min)))
      return {floormod(a.min, b.min), floormod(a.max, b.min)};
    PrimExpr last = b.min - 1;
    if (a.max && a.min && proves(a.min >= 0) && proves(a.max <= last)) last = a.max;
    return {make_const_int(expr->dtype, 0), last};
  }

  Interval constants(const PrimExpr& expr) {
    if (!is_index(expr->dtype)) return Interval::everything();
    auto scope = analyzer_.enter();
    for (const auto& [var, domain] : domains_) {
      const PrimExpr value{Var(var)};
      if (domain.min && !uses_domain(domain.min)) analyzer_.require(value >= domain.min);
      if (domain.max && !uses_domain(domain.max)) analyzer_.require(value <= domain.max);
    }
    const ConstBounds around = analyzer_.const_bounds(expr);
    Interval result;
    if (around.min != kNegInf) result.min = make_const_int(expr->dtype, around.min);
    if (around.max != kPosInf) result.max = make_const_int(expr->dtype, around.max);
    return result;
  }

  PrimExpr both(const PrimExpr& a, const PrimExpr& b, Kind kind) {
    return a && b ? binary(kind, a, b) : PrimExpr();
  }
  bool proves(const PrimExpr& condition) { return analyzer_.can_prove(condition); }

  const Domains& domains_;
  Analyzer& analyzer_;
  int depth_ = 0;
};

// A fact F >= 0 whose terms over the domain variables are minus (plus) those of the expression bounds the
// expression from above (below).
void apply_facts(const PrimExpr& expr, const Evaluator& evaluator, Analyzer& analyzer, Interval* set) {
  Analyzer::State& state = analyzer.state();
  if (!is_index(expr->dtype) || state.facts.empty()) return;
  const Linear form = state.terms.linear(state.import(expr));
  state.end_call();
  auto moving = [&](const Linear& whole) {
    Linear part;
    for (const Arg& arg : whole.terms) {
      if (evaluator.uses_domain(state.export_term(arg.id))) part.terms.push_back(arg);
    }
    return part;
  };
  const Linear part = moving(form);
  if (part.is_const()) return;
  for (size_t n = 0; n < state.facts.size(); ++n) {
    const auto fact = state.facts[n];
    // a bound on a single term is already part of its domain
    if (fact.form.terms.size() < 2) continue;
    if (!fact.is_active || state.terms[fact.form.terms[0].id].dtype != expr->dtype) continue;
    for (const int64_t sign : {1, -1}) {
      const Linear rest = add_scaled(form, fact.form, sign);  // form = rest - sign * fact
      if (!rest.is_exact || !moving(rest).is_const() || moving(fact.form).terms.size() != part.terms.size())
        continue;
      PrimExpr end;
      try {
        end = state.export_term(state.sum(rest, expr->dtype));
      } catch (const NotRepresentable&) {
        continue;
      }
      PrimExpr& side = sign > 0 ? set->max : set->min;  // sign > 0: form = rest - fact <= rest
      side = !side ? end : sign > 0 ? min(side, end) : max(side, end);
    }
  }
}

Interval simplified(Interval set, Analyzer& analyzer) {
  const bool is_same = set.min == set.max;
  if (set.min) set.min = analyzer.simplify(set.min);
  if (set.max) set.max = is_same ? set.min : analyzer.simplify(set.max);
  return set;
}

}  // namespace

Interval Interval::of(const Range& range) {
  if (is_one(range->extent)) return point(range->min);
  return {range->min, range->min + range->extent - 1};
}

Domains domains_of(const std::vector<std::pair<Var, Range>>& ranges) {
  Domains domains;
  for (const auto& [var, range] : ranges) domains[var.get()] = Interval::of(range);
  return domains;
}

Interval eval_interval(const PrimExpr& expr, const Domains& domains, Analyzer& analyzer) {
  Evaluator evaluator(domains, analyzer);
  const PrimExpr simple = analyzer.simplify(expr);
  Interval result = evaluator.eval(simple);
  if (is_point(result) && result.min == simple) return result;
  try {
    apply_facts(simple, evaluator, analyzer, &result);
  } catch (const HasEffect&) {
    analyzer.state().end_call();
  }
  result = simplified(result, analyzer);
  const ConstBounds around = analyzer.const_bounds(simple);
  auto tighten = [&](PrimExpr* side, int64_t bound, bool is_better) {
    if (is_infinite(bound) || !is_better) return;
    *side = make_const_int(expr->dtype, bound);
  };
  tighten(&result.min, around.min, !result.min || analyzer.const_bounds(result.min).max < around.min);
  tighten(&result.max, around.max, !result.max || analyzer.const_bounds(result.max).min > around.max);
  return result;
}

Interval hull(const Interval& a, const Interval& b, Analyzer& analyzer) {
  Interval result;
  if (a.min && b.min) result.min = min(a.min, b.min);
  if (a.max && b.max) result.max = max(a.max, b.max);
  return simplified(result, analyzer);
}

Interval intersect(const Interval& a, const Interval& b, Analyzer& analyzer) {
  Interval result;
  result.min = a.min && b.min ? max(a.min, b.min) : a.min ? a.min : b.min;
  result.max = a.max && b.max ? min(a.max, b.max) : a.max ? a.max : b.max;
  return simplified(result, analyzer);
}

bool is_empty(const Interval& set, Analyzer& analyzer) {
  return set.is_bounded() && analyzer.can_prove(set.max < set.min);
}

bool covers(const Interval& outer, const Interval& inner, Analyzer& analyzer) {
  if (is_empty(inner, analyzer)) return true;
  const bool from_below = !outer.min || (inner.min && analyzer.can_prove(outer.min <= inner.min));
  return from_below && (!outer.max || (inner.max && analyzer.can_prove(inner.max <= outer.max)));
}

bool are_disjoint(const Interval& a, const Interval& b, Analyzer& analyzer) {
  if (a.max && b.min && analyzer.can_prove(a.max < b.min)) return true;
  if (b.max && a.min && analyzer.can_prove(b.max < a.min)) return true;
  return is_empty(a, analyzer) || is_empty(b, analyzer);
}

std::optional<PrimExpr> extent(const Interval& set, Analyzer& analyzer) {
  if (!set.is_bounded()) return std::nullopt;
  return analyzer.simplify(set.max - set.min + 1);
}

}  // namespace tilewright::arith
