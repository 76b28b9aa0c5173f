// and, or, not of conditions.  Operands keep their order: the right one may be defined only if the left one
// holds.
#include "tilewright/arith/rule.h"
#include "tilewright/arith/state.h"

namespace tilewright::arith {

Id Analyzer::State::logical_not(Id a) {
  const Term term = terms[a];
  switch (term.op) {
    case Op::kConst: return truth_value(!term.value);
    case Op::kNot: return terms.arg(a, 0);
    case Op::kGE0: {  // not (x >= 0) = -x - 1 >= 0
      const Id value = terms.arg(a, 0);
      return greater_equal_0(shifted(scaled(terms.linear(value), -1), -1), terms[value].dtype);
    }
    case Op::kAnd: {
      const Id left = terms.arg(a, 0), right = terms.arg(a, 1);
      return logical_or(logical_not(left), logical_not(right));
    }
    case Op::kOr: {
      const Id left = terms.arg(a, 0), right = terms.arg(a, 1);
      return logical_and(logical_not(left), logical_not(right));
    }
    default: break;
  }
  const Arg arg{a};
  return atom(terms.intern(Op::kNot, kBoolType, {&arg, 1}));
}

Id Analyzer::State::logical_and(Id a, Id b) {
  if (terms[a].op == Op::kConst) return terms[a].value ? b : a;
  if (terms[b].op == Op::kConst) return terms[b].value ? a : b;
  if (a == b) return a;
  const Arg args[] = {{a}, {b}};
  const Id raw = terms.intern(Op::kAnd, kBoolType, args);
  if (auto simpler = apply_rules(*this, kLogicRules, raw)) return *simpler;
  return atom(raw);
}

Id Analyzer::State::logical_or(Id a, Id b) {
  if (terms[a].op == Op::kConst) return terms[a].value ? a : b;
  if (terms[b].op == Op::kConst) return terms[b].value ? b : a;
  if (a == b) return a;
  const Arg args[] = {{a}, {b}};
  const Id raw = terms.intern(Op::kOr, kBoolType, args);
  if (auto simpler = apply_rules(*this, kLogicRules, raw)) return *simpler;
  return atom(raw);
}

}  // namespace tilewright::arith
