// Residues: the modulus and remainder that all values of a term have in common.
#include <numeric>

#include "tilewright/arith/state.h"
#include "tilewright/tir/arithmetic.h"

namespace tilewright::arith {
namespace {

// larger moduli are useless, and products of smaller ones do not overflow
constexpr int64_t kLimit = int64_t{1} << 31;

ModularSet make(int64_t coeff, int64_t base) {
  coeff = std::abs(coeff);
  if (coeff == 0) return {0, base};
  if (coeff > kLimit) return {1, 0};
  return {coeff, floormod_int(base, coeff)};
}

// The residue class of values of either set.
ModularSet hull(ModularSet a, ModularSet b) {
  int64_t difference;
  if (__builtin_sub_overflow(a.base, b.base, &difference) || difference == INT64_MIN) return {1, 0};
  return make(std::gcd(std::gcd(a.coeff, b.coeff), difference), a.base);
}

ModularSet add(ModularSet a, ModularSet b) {
  int64_t base;
  if (__builtin_add_overflow(a.base, b.base, &base)) return {1, 0};
  return make(std::gcd(a.coeff, b.coeff), base);
}

// (p * j + a) * (q * k + b) = p q j k + p b j + a q k + a b
ModularSet multiply(ModularSet a, ModularSet b) {
  int64_t both, left, right, base;
  if (__builtin_mul_overflow(a.coeff, b.coeff, &both) || __builtin_mul_overflow(a.coeff, b.base, &left) ||
      __builtin_mul_overflow(a.base, b.coeff, &right) || __builtin_mul_overflow(a.base, b.base, &base) ||
      both == INT64_MIN || left == INT64_MIN || right == INT64_MIN)
    return {1, 0};
  return make(std::gcd(std::gcd(both, left), right), base);
}

}  // namespace

ModularSet Analyzer::State::modular(const Linear& form) {
  if (!form.is_exact) return {1, 0};
  ModularSet total{0, form.constant};
  for (const Arg& part : form.terms) {
    total = add(total, multiply(modular(part.id), {0, part.coeff}));
    if (total.coeff == 1) return {1, 0};
  }
  return total;
}

ModularSet Analyzer::State::modular(Id id) {
  const Term& term = terms[id];
  if (!is_index(term.dtype)) return {1, 0};
  const ModularSet known = knowledge(id).modular;
  if (known.coeff != 1) return known;
  const ConstBounds around = bounds(id);
  if (around.is_const()) return {0, around.min};
  switch (terms[id].op) {
    case Op::kSum: return modular(terms.linear(id));
    case Op::kProduct: {
      ModularSet result{0, 1};
      for (size_t n = 0; n < terms[id].count; ++n) result = multiply(result, modular(terms.arg(id, n)));
      return result;
    }
    case Op::kMin:
    case Op::kMax: return hull(modular(terms.arg(id, 0)), modular(terms.arg(id, 1)));
    case Op::kSelect: return hull(modular(terms.arg(id, 1)), modular(terms.arg(id, 2)));
    case Op::kFloorMod: {
      // x % m == x (mod m), so a common factor of both is kept
      const Term& divisor = terms[terms.arg(id, 1)];
      const ModularSet value = modular(terms.arg(id, 0));
      if (divisor.op != Op::kConst) return {1, 0};
      return make(std::gcd(divisor.value, value.coeff), value.base);
    }
    case Op::kFloorDiv: {
      // (c * k + b) // d = c / d * k + b // d when d divides c
      const Term& divisor = terms[terms.arg(id, 1)];
      const ModularSet value = modular(terms.arg(id, 0));
      if (divisor.op != Op::kConst || divisor.value <= 0 || value.coeff % divisor.value != 0) return {1, 0};
      return make(value.coeff / divisor.value, floordiv_int(value.base, divisor.value));
    }
    default: return {1, 0};
  }
}

}  // namespace tilewright::arith
