// Bound deduction: solves a condition for one variable.
#include "tilewright/arith/int_set.h"
#include "tilewright/arith/iter_parse.h"
#include "tilewright/arith/state.h"
#include "tilewright/tir/builder.h"

namespace tilewright::arith {
using tir::operator-;

namespace {

// coeff * var + rest, where `rest` does not contain `var`.
struct Isolated {
  int64_t coeff;
  PrimExpr rest;
};

std::optional<Isolated> isolate(Analyzer::State& state, const Var& var, Id value) {
  const Id self = state.terms.intern(Op::kVar, var->dtype, {}, 0, var);
  Linear rest;
  Isolated result{0, nullptr};
  const Linear form = state.terms.linear(value);
  rest.constant = form.constant;
  for (const Arg& part : form.terms) {
    if (part.id == self)
      result.coeff = part.coeff;
    else if (state.mentions(part.id, self))
      return std::nullopt;
    else
      rest.terms.push_back(part);
  }
  result.rest = state.export_term(state.sum(rest, state.terms[value].dtype));
  return result;
}

// The values of `var` for which one comparison holds.
std::optional<Interval> solve(const Var& var, Id condition, const Domains& domains, Analyzer& analyzer) {
  Analyzer::State& state = analyzer.state();
  const Term term = state.terms[condition];
  if (term.op == Op::kConst && term.value) return Interval::everything();
  if (term.op != Op::kGE0 && term.op != Op::kEQ0) return std::nullopt;
  const auto parts = isolate(state, var, state.terms.arg(condition, 0));
  if (!parts) return std::nullopt;
  const Interval rest = eval_interval(parts->rest, domains, analyzer);
  if (term.op == Op::kEQ0) {
    const bool is_fixed = rest.is_bounded() && analyzer.can_prove_equal(rest.min, rest.max);
    if (!is_fixed || std::abs(parts->coeff) != 1) return std::nullopt;
    return Interval::point(
        analyzer.simplify(parts->coeff == 1 ? make_const_int(var->dtype, 0) - rest.min : rest.min));
  }
  if (!rest.min) return std::nullopt;
  if (parts->coeff == 0)
    return analyzer.can_prove(rest.min >= 0) ? std::optional(Interval::everything()) : std::nullopt;
  // coeff * var >= -rest for the smallest rest:  var >= -(rest // coeff),  or  var <= rest // -coeff
  if (parts->coeff > 0)
    return Interval{analyzer.simplify(make_const_int(var->dtype, 0) - floordiv(rest.min, parts->coeff)),
                    nullptr};
  return Interval{nullptr, analyzer.simplify(floordiv(rest.min, -parts->coeff))};
}

}  // namespace

std::optional<Interval> deduce_bound(const Var& var, const PrimExpr& condition, const Domains& domains,
                                     Analyzer& analyzer) {
  Interval result;
  for (const PrimExpr& part : conjuncts(condition)) {
    try {
      const Id id = analyzer.state().import(part);
      analyzer.state().end_call();
      const auto values = solve(var, id, domains, analyzer);
      if (!values) return std::nullopt;
      result = intersect(result, *values, analyzer);
    } catch (const HasEffect&) {
      analyzer.state().end_call();
      return std::nullopt;
    }
  }
  return result;
}

}  // namespace tilewright::arith
