// Sums and products: collects like terms, and joins the digits of one number.
#include <algorithm>

#include "tilewright/arith/rule.h"
#include "tilewright/arith/state.h"
#include "tilewright/tir/arithmetic.h"

namespace tilewright::arith {

Id Analyzer::State::constant(int64_t value, DataType dtype) {
  if (!fits(value, dtype)) throw NotRepresentable{};
  return terms.constant(value, dtype);
}

Id Analyzer::State::atom(Id id) {
  const ConstBounds around = bounds(id);
  if (around.is_const() && !is_infinite(around.min)) return constant(around.min, terms[id].dtype);
  return id;
}

Id Analyzer::State::sum(const Linear& form, DataType dtype) {
  const bool is_one_term = form.terms.size() == 1 && std::abs(form.terms[0].coeff) == 1;
  const Linear simple = is_one_term || form.is_const() ? form : normalized(form, dtype);
  if (!simple.is_exact) throw NotRepresentable{};
  if (simple.is_const()) return constant(simple.constant, dtype);
  if (simple.terms.size() == 1 && simple.constant == 0 && simple.terms[0].coeff == 1)
    return simple.terms[0].id;
  const bool all_fit =
      fits(simple.constant, dtype) && std::all_of(simple.terms.begin(), simple.terms.end(),
                                                  [&](const Arg& part) { return fits(part.coeff, dtype); });
  if (!all_fit) throw NotRepresentable{};
  return atom(terms.intern(Op::kSum, dtype, simple.terms, simple.constant));
}

namespace {

// The steps of normalized().  Each looks at one term of `form` and returns true if it rewrote the sum.
struct SumRewriter {
  Analyzer::State& state;
  DataType dtype;
  Linear& form;

  Linear linear(Id id) { return state.terms.linear(id); }
  bool holds(const Linear& parts, int64_t scale) const {
    return std::all_of(parts.terms.begin(), parts.terms.end(), [&](const Arg& part) {
      int64_t coeff;
      return !__builtin_mul_overflow(part.coeff, scale, &coeff) && form.coeff_of(part.id) == coeff;
    });
  }
  void add(const Linear& parts, int64_t scale) { form = add_scaled(form, parts, scale); }
  void add(Id id, int64_t scale) { add(linear(id), scale); }
  void remove(Arg part) { add_term(part.id, -part.coeff); }
  void add_term(Id id, int64_t scale) { add(Linear{{{id, 1}}, 0}, scale); }

  bool divides(const Linear& parts, int64_t divisor) const {
    return parts.is_exact && parts.constant % divisor == 0 && content(parts) % divisor == 0;
  }

  bool join_remainder(Arg remainder);
  bool join_digits(Arg low);
  bool make_remainder(Arg quotient);
  bool make_exact(Arg quotient);
  bool cancel_in_min_max(Arg choice);
};

// s * (x % c) + s * c * (x // c)  =>  s * x;   c may be symbolic
bool SumRewriter::join_remainder(Arg remainder) {
  const Id value = state.terms.arg(remainder.id, 0), modulus = state.terms.arg(remainder.id, 1);
  const Linear x = linear(value);
  const Linear quotient = linear(state.product(state.floor_div(value, modulus), modulus));
  if (!quotient.is_const() && holds(quotient, remainder.coeff)) {
    remove(remainder);
    add(quotient, -remainder.coeff);
    add(x, remainder.coeff);
    return true;
  }
  // the dividend of % was simplified before; look for y // c with y == x (mod c)
  const Term modulus_term = state.terms[modulus];
  int64_t wanted;
  if (modulus_term.op != Op::kConst || __builtin_mul_overflow(remainder.coeff, modulus_term.value, &wanted))
    return false;
  for (const Arg& part : form.terms) {
    if (part.coeff != wanted || state.terms[part.id].op != Op::kFloorDiv ||
        state.terms.arg(part.id, 1) != modulus)
      continue;
    const Linear y = linear(state.terms.arg(part.id, 0));
    if (!divides(y - x, modulus_term.value)) continue;
    const Arg found = part;
    remove(remainder);
    remove(found);
    add(y, remainder.coeff);
    return true;
  }
  return false;
}

// s * (x % c) + s * c * ((x // c) % d)  =>  s * (x % (c * d))
bool SumRewriter::join_digits(Arg low) {
  const Id value = state.terms.arg(low.id, 0);
  const Term modulus = state.terms[state.terms.arg(low.id, 1)];
  int64_t wanted;
  if (modulus.op != Op::kConst || __builtin_mul_overflow(low.coeff, modulus.value, &wanted)) return false;
  for (const Arg& part : form.terms) {
    if (part.coeff != wanted || state.terms[part.id].op != Op::kFloorMod) continue;
    const Id quotient = state.terms.arg(part.id, 0);
    const Term outer = state.terms[state.terms.arg(part.id, 1)];
    int64_t product;
    if (outer.op != Op::kConst || outer.value <= 0 ||
        __builtin_mul_overflow(outer.value, modulus.value, &product) || !fits(product, dtype))
      continue;
    Linear number = linear(value);
    const bool is_quotient_of_value =
        divides(linear(state.floor_div(value, state.terms.arg(low.id, 1))) - linear(quotient), outer.value);
    if (!is_quotient_of_value) {
      if (state.terms[quotient].op != Op::kFloorDiv ||
          state.terms.arg(quotient, 1) != state.terms.arg(low.id, 1))
        continue;
      number = linear(state.terms.arg(quotient, 0));
      if (!divides(number - linear(value), modulus.value)) continue;
    }
    const Arg high = part;
    const Id joined = state.floor_mod(state.sum(number, dtype), state.constant(product, dtype));
    remove(low);
    remove(high);
    add(joined, low.coeff);
    return true;
  }
  return false;
}

// m * x - m * c * (x // c)  =>  m * (x % c)
bool SumRewriter::make_remainder(Arg quotient) {
  const Id value = state.terms.arg(quotient.id, 0), divisor = state.terms.arg(quotient.id, 1);
  const Term divisor_term = state.terms[divisor];
  if (divisor_term.op != Op::kConst || quotient.coeff % divisor_term.value != 0) return false;
  const int64_t scale = -quotient.coeff / divisor_term.value;
  const Linear x = linear(value);
  if (x.is_const() || !holds(x, scale)) return false;
  const Id remainder = state.floor_mod(value, divisor);
  remove(quotient);
  add(x, -scale);
  add(remainder, scale);
  return true;
}

// m * c * (x // c)  =>  m * (x - r)   when x % c is known to be r
bool SumRewriter::make_exact(Arg quotient) {
  const Id value = state.terms.arg(quotient.id, 0);
  const Term divisor = state.terms[state.terms.arg(quotient.id, 1)];
  if (divisor.op != Op::kConst || divisor.value <= 0 || quotient.coeff % divisor.value != 0) return false;
  const ModularSet multiple = state.modular(value);
  if (multiple.coeff % divisor.value != 0) return false;
  remove(quotient);
  add(shifted(linear(value), -floormod_int(multiple.base, divisor.value)), quotient.coeff / divisor.value);
  return true;
}

// k * min(x + t, y) - k * t  =>  k * min(x, y - t)   when that leaves fewer terms; max likewise
bool SumRewriter::cancel_in_min_max(Arg choice) {
  const bool is_min = state.terms[choice.id].op == Op::kMin;
  const Linear a = linear(state.terms.arg(choice.id, 0)), b = linear(state.terms.arg(choice.id, 1));
  Linear moved;
  for (const Linear& side : {a, b}) {
    for (const Arg& part : side.terms) {
      int64_t opposite;
      if (__builtin_mul_overflow(part.coeff, -choice.coeff, &opposite) || form.coeff_of(part.id) != opposite)
        continue;
      if (moved.coeff_of(part.id) == 0) moved = add_scaled(moved, {{{part.id, 1}}, 0}, part.coeff);
    }
  }
  if (moved.is_const()) return false;
  const Linear new_a = a - moved, new_b = b - moved;
  const size_t before = a.terms.size() + b.terms.size() + form.terms.size();
  const Linear rest = add_scaled(form, moved, choice.coeff);
  if (new_a.terms.size() + new_b.terms.size() + rest.terms.size() >= before) return false;
  const Id changed = state.min_max(is_min, state.sum(new_a, dtype), state.sum(new_b, dtype));
  form = rest;
  remove(choice);
  add(changed, choice.coeff);
  return true;
}

}  // namespace

Linear Analyzer::State::normalized(Linear form, DataType dtype) {
  // larger sums are not searched for pairs; people and schedules do not write them
  constexpr size_t kMaxTerms = 256;
  if (form.terms.size() > kMaxTerms) return form;
  // each rewrite removes a term or a division, so the limit is only a safeguard
  constexpr int kMaxRewrites = 64;
  SumRewriter rewriter{*this, dtype, form};
  auto rewrite_once = [&] {
    for (size_t n = 0; n < form.terms.size(); ++n) {
      const Arg part = form.terms[n];
      const Op op = terms[part.id].op;
      if (op == Op::kFloorMod && (rewriter.join_remainder(part) || rewriter.join_digits(part))) return true;
      if (op == Op::kFloorDiv && (rewriter.make_remainder(part) || rewriter.make_exact(part))) return true;
      if ((op == Op::kMin || op == Op::kMax) && rewriter.cancel_in_min_max(part)) return true;
      if (op == Op::kVar || op == Op::kProduct) continue;
      for (const RuleTable table : {kAddRules, kSubRules}) {
        if (auto simpler = apply_sum_rules(*this, table, form, n, dtype)) {
          form = std::move(*simpler);
          return true;
        }
      }
    }
    return false;
  };
  for (int n = 0; n < kMaxRewrites && form.is_exact && rewrite_once(); ++n) {
  }
  return form;
}

// ---- products

Id Analyzer::State::product(Id a, Id b) {
  const DataType dtype = terms[a].dtype;
  if (terms[a].op == Op::kConst) std::swap(a, b);
  if (terms[b].op == Op::kConst) return sum(scaled(terms.linear(a), terms[b].value), dtype);
  const Linear x = terms.linear(a), y = terms.linear(b);
  auto parts_of = [](const Linear& form) { return form.terms.size() + (form.constant != 0 ? 1 : 0); };
  constexpr size_t kMaxDistributed = 8;
  const bool is_flat = terms[a].op != Op::kSum && terms[b].op != Op::kSum;
  if (!is_flat && parts_of(x) * parts_of(y) <= kMaxDistributed) {
    // (p + q) * (r + s)  =>  p * r + p * s + q * r + q * s
    Linear total = add_scaled(scaled(x, y.constant), y, x.constant);
    total.constant = 0;
    int64_t constant_part;
    if (__builtin_mul_overflow(x.constant, y.constant, &constant_part)) throw NotRepresentable{};
    total = shifted(total, constant_part);
    for (const Arg& left : x.terms) {
      for (const Arg& right : y.terms) {
        int64_t scale;
        if (__builtin_mul_overflow(left.coeff, right.coeff, &scale)) throw NotRepresentable{};
        total = add_scaled(total, terms.linear(product(left.id, right.id)), scale);
      }
    }
    return sum(total, dtype);
  }
  std::vector<Arg> factors;
  for (const Id side : {a, b}) {
    if (terms[side].op == Op::kProduct)
      factors.insert(factors.end(), terms.args(side).begin(), terms.args(side).end());
    else
      factors.push_back({side, 1});
  }
  constexpr size_t kMaxFactors = 32;  // repeated squaring doubles their number
  if (factors.size() > kMaxFactors) throw NotRepresentable{};
  std::sort(factors.begin(), factors.end(), [](const Arg& p, const Arg& q) { return p.id < q.id; });
  const Id raw = terms.intern(Op::kProduct, dtype, factors);
  if (auto simpler = apply_rules(*this, kMulRules, raw)) return *simpler;
  return atom(raw);
}

}  // namespace tilewright::arith
