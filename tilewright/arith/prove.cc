// Proofs of form >= 0.  A form whose constant bounds do not decide is reduced by facts F >= 0: if F contains
// a term t with the same sign, with coefficient f in F, then |f| * form - |t| * F is free of the term, and
// form >= 0 if that is.  min, max and select are proved by case distinction.
#include <algorithm>
#include <numeric>

#include "tilewright/arith/state.h"

namespace tilewright::arith {

struct Prover {
  Analyzer::State& state;
  int fuel;

  bool prove(const Linear& goal, int depth);

 private:
  bool prove_by_cases(const Linear& goal, int depth, bool* has_cases);
  bool prove_by_factor(const Linear& goal, int depth);
  bool eliminate(const Linear& goal, Arg part, int depth);
  std::vector<Linear> facts_about(Id term, bool positive);
  void facts_about_product(Id product, bool positive, std::vector<Linear>* found);
  Linear expanded_product(const Linear& form, Id factor);
};

namespace {
// goal with `term` replaced by `value`
Linear replaced(const Linear& goal, Id term, const Linear& value) {
  const int64_t coeff = goal.coeff_of(term);
  return add_scaled(add_scaled(goal, {{{term, 1}}, 0}, -coeff), value, coeff);
}
}  // namespace

bool Prover::prove(const Linear& goal, int depth) {
  if (!goal.is_exact) return false;
  const ConstBounds around = state.bounds(goal);
  if (around.min >= 0) return true;
  if (around.max < 0 || goal.is_const() || depth == 0 || --fuel < 0) return false;
  bool has_cases = false;
  if (prove_by_cases(goal, depth, &has_cases)) return true;
  if (has_cases)
    return false;  // a case split is exact: it fails only where the goal fails in one of the cases
  if (prove_by_factor(goal, depth)) return true;
  // unbounded terms must be eliminated in any proof; products first, since facts about products involve their
  // factors
  std::vector<Arg> order = goal.terms;
  auto is_unbounded = [&](const Arg& part) { return (state.bounds(part.id) * part.coeff).min == kNegInf; };
  if (std::any_of(order.begin(), order.end(), is_unbounded))
    std::erase_if(order, [&](const Arg& part) { return !is_unbounded(part); });
  std::sort(order.begin(), order.end(), [&](const Arg& a, const Arg& b) {
    const bool a_last = state.terms[a.id].op != Op::kProduct, b_last = state.terms[b.id].op != Op::kProduct;
    return std::pair(a_last, a.id) < std::pair(b_last, b.id);
  });
  return std::any_of(order.begin(), order.end(),
                     [&](const Arg& part) { return eliminate(goal, part, depth); });
}

// Proves goal + k * min(a, b) >= 0, k > 0, by proving it with a and with b; max with k < 0 likewise.
bool Prover::prove_by_cases(const Linear& goal, int depth, bool* has_cases) {
  for (const Arg& part : goal.terms) {
    const Op op = state.terms[part.id].op;
    const bool is_split =
        (op == Op::kMin && part.coeff > 0) || (op == Op::kMax && part.coeff < 0) || op == Op::kSelect;
    if (!is_split) continue;
    *has_cases = op != Op::kSelect;  // the condition of a select is not used here
    const size_t first = op == Op::kSelect ? 1 : 0;
    const Linear a = state.terms.linear(state.terms.arg(part.id, first));
    const Linear b = state.terms.linear(state.terms.arg(part.id, first + 1));
    return prove(replaced(goal, part.id, a), depth - 1) && prove(replaced(goal, part.id, b), depth - 1);
  }
  return false;
}

// f * g >= 0 if both are >= 0 or both <= 0, where f is a common factor of all terms.
bool Prover::prove_by_factor(const Linear& goal, int depth) {
  if (goal.constant != 0) return false;
  auto is_product = [&](Id id) { return state.terms[id].op == Op::kProduct; };
  std::vector<Arg> candidates{{goal.terms[0].id, 1}};
  if (is_product(goal.terms[0].id)) {
    const auto factors = state.terms.args(goal.terms[0].id);
    candidates.assign(factors.begin(), factors.end());
  }
  for (const Arg factor : candidates) {
    Linear quotient;
    bool divides = true;
    for (const Arg& part : goal.terms) {
      if (part.id == factor.id) {
        quotient = shifted(quotient, part.coeff);
        continue;
      }
      if (!is_product(part.id)) {
        divides = false;
        break;
      }
      std::vector<Arg> rest(state.terms.args(part.id).begin(), state.terms.args(part.id).end());
      auto it = std::find_if(rest.begin(), rest.end(), [&](const Arg& arg) { return arg.id == factor.id; });
      if (it == rest.end()) {
        divides = false;
        break;
      }
      rest.erase(it);
      const DataType dtype = state.terms[part.id].dtype;
      const Id other = rest.size() == 1 ? rest[0].id : state.terms.intern(Op::kProduct, dtype, rest);
      quotient = add_scaled(quotient, {{{other, 1}}, 0}, part.coeff);
    }
    if (!divides) continue;
    const ConstBounds sign = state.bounds(factor.id);
    if (sign.min >= 0 && prove(quotient, depth - 1)) return true;
    if (sign.max <= 0 && prove(scaled(quotient, -1), depth - 1)) return true;
  }
  return false;
}

bool Prover::eliminate(const Linear& goal, Arg part, int depth) {
  if (fuel < 0) return false;
  for (const Linear& fact : facts_about(part.id, part.coeff > 0)) {
    const int64_t in_fact = fact.coeff_of(part.id);
    const int64_t divisor = std::gcd(in_fact, part.coeff);
    const Linear rest =
        add_scaled(scaled(goal, std::abs(in_fact / divisor)), fact, -std::abs(part.coeff / divisor));
    if (prove(rest, depth - 1)) return true;
    if (fuel < 0) return false;
  }
  return false;
}

// The facts in which `term` has a coefficient of the given sign.
std::vector<Linear> Prover::facts_about(Id term, bool positive) {
  std::vector<Linear> found;
  for (const auto& fact : state.facts) {
    const int64_t coeff = fact.is_active ? fact.form.coeff_of(term) : 0;
    if (coeff != 0 && (coeff > 0) == positive) found.push_back(fact.form);
  }
  const TermTable& terms = state.terms;
  const Linear self{{{term, 1}}, 0};
  const Op op = terms[term].op;
  if (op == Op::kProduct) facts_about_product(term, positive, &found);
  if (op == Op::kFloorDiv) {
    // c * (x // c) <= x <= c * (x // c) + c - 1
    const Linear value = terms.linear(terms.arg(term, 0));
    const Term& divisor = terms[terms.arg(term, 1)];
    if (divisor.op == Op::kConst && divisor.value > 0) {
      if (positive)
        found.push_back(shifted(add_scaled(scaled(value, -1), self, divisor.value), divisor.value - 1));
      else
        found.push_back(add_scaled(value, self, -divisor.value));
    }
  }
  if (op == Op::kFloorMod && !positive) {
    // x % n <= n - 1 if n > 0, and also x % n <= x if x >= 0
    if (state.bounds(terms.arg(term, 1)).min > 0) {
      found.push_back(shifted(terms.linear(terms.arg(term, 1)) - self, -1));
      if (state.bounds(terms.arg(term, 0)).min >= 0) found.push_back(terms.linear(terms.arg(term, 0)) - self);
    }
  }
  if ((op == Op::kMin && !positive) || (op == Op::kMax && positive)) {
    // min(a, b) <= a, b;  max(a, b) >= a, b
    const int64_t sign = op == Op::kMin ? 1 : -1;
    for (size_t n = 0; n < 2; ++n) found.push_back(scaled(terms.linear(terms.arg(term, n)) - self, sign));
  }
  return found;
}

// f * rest: a fact F >= 0 that contains f and rest >= 0 imply F * rest >= 0.
void Prover::facts_about_product(Id product, bool positive, std::vector<Linear>* found) {
  TermTable& terms = state.terms;
  const std::vector<Arg> factors(terms.args(product).begin(), terms.args(product).end());
  for (size_t n = 0; n < factors.size(); ++n) {
    std::vector<Arg> others = factors;
    others.erase(others.begin() + static_cast<ptrdiff_t>(n));
    const Id rest =
        others.size() == 1 ? others[0].id : terms.intern(Op::kProduct, terms[product].dtype, others);
    if (state.bounds(rest).min < 0) continue;
    const Id factor = factors[n].id;
    std::vector<Linear> about =
        terms[factor].op == Op::kProduct ? std::vector<Linear>{} : facts_about(factor, positive);
    const ConstBounds around = state.bounds(factor);
    const Linear self{{{factor, 1}}, 0};
    if (positive && around.min != kNegInf) about.push_back(shifted(self, -around.min));
    if (!positive && around.max != kPosInf) about.push_back(shifted(scaled(self, -1), around.max));
    for (const Linear& fact : about) {
      Linear multiplied = expanded_product(fact, rest);
      if (multiplied.coeff_of(product) != 0) found->push_back(std::move(multiplied));
    }
  }
}

Linear Prover::expanded_product(const Linear& form, Id factor) {
  Linear result = scaled({{{factor, 1}}, 0}, form.constant);
  for (const Arg& part : form.terms)
    result = add_scaled(result, state.terms.linear(state.product(part.id, factor)), part.coeff);
  return result;
}

bool Analyzer::State::proves_ge0(const Linear& form, int budget) {
  Prover prover{*this, budget};
  return prover.prove(form, 6);
}

bool Analyzer::State::proves(Id condition) {
  const Term term = terms[condition];
  switch (term.op) {
    case Op::kConst: return term.value != 0;
    case Op::kAnd: return proves(terms.arg(condition, 0)) && proves(terms.arg(condition, 1));
    case Op::kOr: return proves(terms.arg(condition, 0)) || proves(terms.arg(condition, 1));
    case Op::kGE0: return proves_ge0(terms.linear(terms.arg(condition, 0)), kProofFuel);
    case Op::kEQ0: {
      const Linear form = terms.linear(terms.arg(condition, 0));
      return proves_ge0(form, kProofFuel) && proves_ge0(scaled(form, -1), kProofFuel);
    }
    case Op::kNot: {
      const Id inner = terms.arg(condition, 0);
      if (terms[inner].op != Op::kEQ0) return false;
      const Linear form = terms.linear(terms.arg(inner, 0));
      return proves_ge0(shifted(form, -1), kProofFuel) ||
             proves_ge0(shifted(scaled(form, -1), -1), kProofFuel);
    }
    default: return false;
  }
}

}  // namespace tilewright::arith
