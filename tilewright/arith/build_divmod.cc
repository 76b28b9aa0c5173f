// Floor division and remainder of sums.
#include <algorithm>
#include <numeric>

#include "tilewright/arith/rule.h"
#include "tilewright/arith/state.h"
#include "tilewright/tir/arithmetic.h"

namespace tilewright::arith {
namespace {

// The value of floor(x / divisor) if it is the same for all min <= x <= max, else nullopt.
std::optional<int64_t> common_quotient(ConstBounds around, int64_t divisor) {
  if (!around.is_bounded()) return std::nullopt;
  const int64_t low = floordiv_int(around.min, divisor);
  if (low != floordiv_int(around.max, divisor)) return std::nullopt;
  return low;
}

// Splits form = multiple + rest, where every coefficient of `multiple` is a multiple of `divisor` and 0 <=
// rest.constant < divisor.
void split_multiples(const Linear& form, int64_t divisor, Linear* multiple, Linear* rest) {
  for (const Arg& part : form.terms) (part.coeff % divisor == 0 ? multiple : rest)->terms.push_back(part);
  rest->constant = floormod_int(form.constant, divisor);
  multiple->constant = form.constant - rest->constant;
}

// Divisors of `whole` that divide some coefficients, largest first: bases at which a sum may be split into
// two digits.
std::vector<int64_t> digit_bases(const Linear& form, int64_t whole) {
  constexpr size_t kMaxBases = 12;
  std::vector<int64_t> bases;
  auto add = [&](int64_t base) {
    if (base > 1 && base < whole && bases.size() < kMaxBases &&
        std::find(bases.begin(), bases.end(), base) == bases.end())
      bases.push_back(base);
  };
  for (const Arg& part : form.terms) {
    const int64_t base = std::gcd(part.coeff, whole);
    const size_t known = bases.size();
    add(base);
    for (size_t n = 0; n < known; ++n) add(std::gcd(bases[n], base));
    if (bases.size() >= kMaxBases) break;
  }
  std::sort(bases.rbegin(), bases.rend());
  return bases;
}

// form = base * high + low with 0 <= low < base
struct Digits {
  Linear high, low;
};
std::optional<Digits> cut(Analyzer::State& state, const Linear& form, int64_t base) {
  Linear multiple, low;
  split_multiples(form, base, &multiple, &low);
  const auto carry = common_quotient(state.bounds(low), base);
  if (!carry) return std::nullopt;
  return Digits{shifted(divided(multiple, base), *carry), shifted(low, -*carry * base)};
}

}  // namespace

// form // divisor for a constant divisor > 1
Linear Analyzer::State::div_const(const Linear& form, int64_t divisor, DataType dtype) {
  Linear multiple, rest;
  split_multiples(form, divisor, &multiple, &rest);
  const Linear whole = divided(multiple, divisor);  // form // divisor = whole + rest // divisor
  if (const auto quotient = common_quotient(bounds(rest), divisor)) return shifted(whole, *quotient);
  // (5 * i + j) // 4 = i + (i + j) // 4, useful if the remaining quotient is a constant
  Linear extra, small = rest;
  std::erase_if(small.terms, [&](Arg& part) {
    const int64_t times = part.coeff / divisor;
    if (times != 0) extra.terms.push_back({part.id, times});
    return (part.coeff -= times * divisor) == 0;
  });
  if (const auto quotient = common_quotient(bounds(small), divisor)) return shifted(whole + extra, *quotient);
  if (!facts.empty() && proves_ge0(rest) && proves_ge0(shifted(scaled(rest, -1), divisor - 1))) return whole;
  // (g * a + b) // (g * d) = a // d  when 0 <= b < g
  for (const int64_t base : digit_bases(rest, divisor)) {
    if (auto digits = cut(*this, rest, base)) return whole + div_const(digits->high, divisor / base, dtype);
  }
  if (rest.terms.size() == 1 && rest.terms[0].coeff == 1) {
    const Id inner = rest.terms[0].id;
    const Op op = terms[inner].op;
    const bool has_constant =
        (op == Op::kFloorDiv || op == Op::kFloorMod) && terms[terms.arg(inner, 1)].op == Op::kConst;
    const int64_t by = has_constant ? terms[terms.arg(inner, 1)].value : 0;
    const Linear value = has_constant ? terms.linear(terms.arg(inner, 0)) : Linear{};
    int64_t both;
    // (x // b + k) // d = (x + k * b) // (b * d)
    if (op == Op::kFloorDiv && by > 0 && !__builtin_mul_overflow(by, divisor, &both) && fits(both, dtype))
      return whole + div_const(add_scaled(value, {{}, rest.constant}, by), both, dtype);
    // (x % (d * m)) // d = (x // d) % m
    if (op == Op::kFloorMod && by > 0 && rest.constant == 0 && by % divisor == 0)
      return whole + mod_const(div_const(value, divisor, dtype), by / divisor, dtype);
  }
  if (!rest.is_exact) throw NotRepresentable{};
  const Arg args[] = {{sum(rest, dtype)}, {constant(divisor, dtype)}};
  return whole + terms.linear(atom(terms.intern(Op::kFloorDiv, dtype, args)));
}

// form % modulus for a constant modulus > 1
Linear Analyzer::State::mod_const(const Linear& form, int64_t modulus, DataType dtype) {
  if (modulus == 1) return {};
  Linear rest{{}, floormod_int(form.constant, modulus)};
  bool is_changed = false;
  for (const Arg& part : form.terms) {
    const Term term = terms[part.id];
    const int64_t coeff = part.coeff % modulus;
    if (coeff == 0) continue;
    // k * (x % m) = k * x (mod c)  when c divides k * m
    const Term inner = term.op == Op::kFloorMod ? terms[terms.arg(part.id, 1)] : Term{};
    int64_t step;
    if (term.op == Op::kFloorMod && inner.op == Op::kConst &&
        !__builtin_mul_overflow(coeff, inner.value, &step) && step % modulus == 0) {
      rest = add_scaled(rest, terms.linear(terms.arg(part.id, 0)), coeff);
      is_changed = true;
      continue;
    }
    // k * x = k * b (mod c)  when x is b modulo m and c divides k * m
    const ModularSet known = modular(part.id);
    if (!__builtin_mul_overflow(coeff, known.coeff, &step) && step % modulus == 0) {
      rest = add_scaled(rest, {{}, known.base % modulus}, coeff);
      is_changed = true;
      continue;
    }
    rest = add_scaled(rest, {{{part.id, 1}}, 0}, coeff);
  }
  if (!rest.is_exact) throw NotRepresentable{};
  if (is_changed) return mod_const(normalized(std::move(rest), dtype), modulus, dtype);
  rest.constant = floormod_int(rest.constant, modulus);
  if (const auto quotient = common_quotient(bounds(rest), modulus))
    return shifted(rest, -*quotient * modulus);
  if (!facts.empty() && proves_ge0(rest) && proves_ge0(shifted(scaled(rest, -1), modulus - 1))) return rest;
  // (g * a + b) % (g * d) = g * (a % d) + b  when 0 <= b < g
  for (const int64_t base : digit_bases(rest, modulus)) {
    if (auto digits = cut(*this, rest, base))
      return add_scaled(digits->low, mod_const(digits->high, modulus / base, dtype), base);
  }
  const Arg args[] = {{sum(rest, dtype)}, {constant(modulus, dtype)}};
  return terms.linear(atom(terms.intern(Op::kFloorMod, dtype, args)));
}

// form // divisor (or form % divisor) for a divisor that is not a constant:
// (n * q + r) // n = q + r // n,   (n * q + r) % n = r % n
Linear Analyzer::State::symbolic_div(const Linear& form, Id divisor, bool wants_remainder, DataType dtype) {
  Linear quotient, rest{{}, form.constant};
  const Linear by = terms.linear(divisor);
  int64_t scale = 1;
  std::vector<Arg> factors;
  if (by.terms.size() == 1 && by.constant == 0) {
    scale = by.terms[0].coeff;
    const Id base = by.terms[0].id;
    if (terms[base].op == Op::kProduct)
      factors.assign(terms.args(base).begin(), terms.args(base).end());
    else
      factors = {{base, 1}};
  }
  for (const Arg& part : form.terms) {
    std::vector<Arg> others{{part.id, 1}};
    if (terms[part.id].op == Op::kProduct)
      others.assign(terms.args(part.id).begin(), terms.args(part.id).end());
    bool is_multiple = !factors.empty() && part.coeff % scale == 0;
    for (const Arg& factor : factors) {
      auto it = std::find(others.begin(), others.end(), factor);
      if (it == others.end()) {
        is_multiple = false;
        break;
      }
      others.erase(it);
    }
    if (!is_multiple) {
      rest.terms.push_back(part);
      continue;
    }
    Id other = constant(1, dtype);
    for (const Arg& factor : others) other = product(other, factor.id);
    quotient = add_scaled(quotient, terms.linear(other), part.coeff / scale);
  }
  // the whole sum is a multiple of a divisor that is itself a sum
  if (by.terms.size() > 1 && form.terms.size() == by.terms.size() && form.terms[0].id == by.terms[0].id) {
    const int64_t times = form.terms[0].coeff / by.terms[0].coeff;
    const Linear left = add_scaled(form, by, -times);
    if (left.is_const()) {
      quotient = {{}, times};
      rest = left;
    }
  }
  const bool is_below = rest.is_const() && rest.constant == 0;
  const bool is_digit =
      is_below || (bounds(divisor).min > 0 && proves_ge0(rest) && proves_ge0(shifted(by - rest, -1)));
  if (is_digit) return wants_remainder ? rest : quotient;
  const Arg args[] = {{sum(rest, dtype)}, {divisor}};
  Id left = terms.intern(wants_remainder ? Op::kFloorMod : Op::kFloorDiv, dtype, args);
  if (auto simpler = apply_rules(*this, kDivModRules, left))
    left = *simpler;
  else
    left = atom(left);
  return wants_remainder ? terms.linear(left) : quotient + terms.linear(left);
}

Id Analyzer::State::floor_div(Id a, Id b) {
  const DataType dtype = terms[a].dtype;
  const Linear form = terms.linear(a);
  if (!form.is_exact) throw NotRepresentable{};
  if (terms[b].op != Op::kConst) return sum(symbolic_div(form, b, false, dtype), dtype);
  const int64_t divisor = terms[b].value;
  if (divisor == 0 || divisor == INT64_MIN) throw NotRepresentable{};  // undefined: left as written
  if (divisor < 0) {                                                   // x // -c = -x // c
    if (divisor == -1) return sum(scaled(form, -1), dtype);
    return sum(div_const(scaled(form, -1), -divisor, dtype), dtype);
  }
  return divisor == 1 ? a : sum(div_const(form, divisor, dtype), dtype);
}

Id Analyzer::State::floor_mod(Id a, Id b) {
  const DataType dtype = terms[a].dtype;
  const Linear form = terms.linear(a);
  if (!form.is_exact) throw NotRepresentable{};
  if (terms[b].op != Op::kConst) return sum(symbolic_div(form, b, true, dtype), dtype);
  const int64_t modulus = terms[b].value;
  if (modulus == 0 || modulus == INT64_MIN) throw NotRepresentable{};
  if (modulus < 0)  // x % -c = -(-x % c)
    return sum(scaled(mod_const(scaled(form, -1), -modulus, dtype), -1), dtype);
  return sum(mod_const(form, modulus, dtype), dtype);
}

// Truncating division is floor division where the signs are known.
Id Analyzer::State::trunc_div_mod(Kind kind, Id a, Id b) {
  const DataType dtype = terms[a].dtype;
  const ConstBounds x = bounds(a), y = bounds(b);
  auto negated = [&](Id id) { return sum(scaled(terms.linear(id), -1), dtype); };
  const bool is_div = kind == Kind::kDiv;
  if (y.min > 0 && x.min >= 0) return is_div ? floor_div(a, b) : floor_mod(a, b);
  if (y.min > 0 && x.max <= 0) return negated(is_div ? floor_div(negated(a), b) : floor_mod(negated(a), b));
  if (y.max < 0 && x.min >= 0) return is_div ? negated(floor_div(a, negated(b))) : floor_mod(a, negated(b));
  const Arg args[] = {{a}, {b}};
  return atom(other(kind, dtype, args));
}

}  // namespace tilewright::arith
