// Constant bounds of terms, from the bounds of their operands and from known facts.
#include <algorithm>

#include "tilewright/arith/state.h"
#include "tilewright/tir/arithmetic.h"
#include "tilewright/tir/op.h"

namespace tilewright::arith {
namespace {

int64_t floor_div_bound(int64_t a, int64_t b) {
  if (is_infinite(a)) return b > 0 ? a : a == kNegInf ? kPosInf : kNegInf;
  if (is_infinite(b)) return a == 0 || (a > 0) == (b > 0) ? 0 : -1;
  return floordiv_int(a, b);
}

// a // b for divisors of one sign: monotone in each operand, so the corners are the extremes
ConstBounds floor_div_by_one_sign(ConstBounds a, ConstBounds b) {
  const int64_t corners[] = {floor_div_bound(a.min, b.min), floor_div_bound(a.min, b.max),
                             floor_div_bound(a.max, b.min), floor_div_bound(a.max, b.max)};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

// Calls `of_part` for the negative and for the positive range of the divisor and joins the results.
template <class F>
ConstBounds over_divisor_signs(ConstBounds divisor, F of_part) {
  const ConstBounds negative = intersect(divisor, {kNegInf, -1}), positive = intersect(divisor, {1, kPosInf});
  const bool has_negative = negative.min <= negative.max, has_positive = positive.min <= positive.max;
  if (has_negative && has_positive) return hull(of_part(negative), of_part(positive));
  if (has_negative) return of_part(negative);
  return has_positive ? of_part(positive) : ConstBounds{};
}

ConstBounds floor_mod_bounds(ConstBounds a, ConstBounds b) {
  if (b.max < 0) return {b.min == kNegInf ? kNegInf : b.min + 1, 0};
  ConstBounds result{0, b.max == kPosInf ? kPosInf : b.max - 1};
  if (a.min >= 0) {
    if (a.max < b.min) return a;
    result.max = std::min(result.max, a.max);
  }
  // all values lie between two neighbouring multiples of a constant divisor
  if (b.is_const() && a.is_bounded() && floordiv_int(a.min, b.min) == floordiv_int(a.max, b.min))
    return {floormod_int(a.min, b.min), floormod_int(a.max, b.min)};
  return result;
}

ConstBounds trunc_div_bounds(ConstBounds a, ConstBounds b) {
  if (a.min >= 0 && b.min > 0) return floor_div_by_one_sign(a, b);
  // |a / b| <= |a|
  if (!a.is_bounded()) return {};
  const int64_t most = std::max(a.max, -a.min);
  return {-most, most};
}

ConstBounds trunc_mod_bounds(ConstBounds a, ConstBounds b) {
  ConstBounds result;  // |a % b| < |b|, |a % b| <= |a|, with the sign of a
  if (b.is_bounded()) {
    const int64_t most = std::max(std::abs(b.max), std::abs(b.min)) - 1;
    result = {-most, most};
  }
  return {a.min >= 0 ? 0 : std::max(result.min, a.min), a.max <= 0 ? 0 : std::min(result.max, a.max)};
}

}  // namespace

ConstBounds Analyzer::State::bounds(Id id) {
  const Term& term = terms[id];
  if (term.op == Op::kConst) {
    if (!is_infinite(term.value)) return {term.value, term.value};
    return term.value > 0 ? ConstBounds{kPosInf - 1, kPosInf} : ConstBounds{kNegInf, kNegInf + 1};
  }
  if (term.bounds_epoch == epoch) return term.bounds;
  ConstBounds found = intersect(compute_bounds(id), bounds_of_dtype(terms[id].dtype));
  const Knowledge& known = knowledge(id);
  found = intersect(found, known.bounds);
  if (known.truth) found = {*known.truth, *known.truth};
  terms[id].bounds = found;
  terms[id].bounds_epoch = epoch;
  return found;
}

ConstBounds Analyzer::State::bounds(const Linear& form) {
  if (!form.is_exact) return {};
  ConstBounds total{form.constant, form.constant};
  for (const Arg& part : form.terms) total = total + bounds(part.id) * part.coeff;
  if (form.terms.size() < 2) return total;
  // a fact about a multiple of the same sum
  for (const Fact& fact : facts) {
    const auto& parts = fact.form.terms;
    if (!fact.is_active || parts.size() != form.terms.size() || parts[0].id != form.terms[0].id) continue;
    const int64_t factor = form.terms[0].coeff / parts[0].coeff;
    if (factor == 0) continue;
    const Linear rest = add_scaled(form, fact.form, -factor);  // form = factor * (something >= 0) + rest
    if (!rest.is_exact || !rest.is_const()) continue;
    total = intersect(total,
                      factor > 0 ? ConstBounds{rest.constant, kPosInf} : ConstBounds{kNegInf, rest.constant});
  }
  return total;
}

ConstBounds Analyzer::State::compute_bounds(Id id) {
  const Op op = terms[id].op;
  auto arg = [&](size_t n) { return bounds(terms.arg(id, n)); };
  switch (op) {
    case Op::kSum: return bounds(terms.linear(id));
    case Op::kProduct: {
      ConstBounds result = arg(0);
      for (size_t n = 1; n < terms[id].count; ++n) result = result * arg(n);
      const bool is_square = terms[id].count == 2 && terms.arg(id, 0) == terms.arg(id, 1);
      return is_square ? intersect(result, {0, kPosInf}) : result;
    }
    case Op::kFloorDiv: {
      const ConstBounds a = arg(0);
      return over_divisor_signs(arg(1), [&](ConstBounds b) { return floor_div_by_one_sign(a, b); });
    }
    case Op::kFloorMod: {
      const ConstBounds a = arg(0);
      return over_divisor_signs(arg(1), [&](ConstBounds b) { return floor_mod_bounds(a, b); });
    }
    case Op::kMin: {
      const ConstBounds a = arg(0), b = arg(1);
      return {std::min(a.min, b.min), std::min(a.max, b.max)};
    }
    case Op::kMax: {
      const ConstBounds a = arg(0), b = arg(1);
      return {std::max(a.min, b.min), std::max(a.max, b.max)};
    }
    case Op::kSelect: return hull(arg(1), arg(2));
    case Op::kOther: return other_bounds(id);
    default: return {};
  }
}

ConstBounds Analyzer::State::other_bounds(Id id) {
  const Term& term = terms[id];
  if (!is_index(term.dtype)) return {};
  auto arg = [&](size_t n) { return bounds(terms.arg(id, n)); };
  auto is_integer = [&](size_t n) {
    return terms[terms.arg(id, n)].dtype.is_int() || terms[terms.arg(id, n)].dtype.is_uint();
  };
  switch (term.kind) {
    case Kind::kCast: {
      const DataType from = terms[terms.arg(id, 0)].dtype;
      if (from.is_bool()) return {0, 1};
      if (!from.is_integral() || !from.is_scalar()) return {};
      const ConstBounds inner = arg(0);
      // a value that does not fit the narrower type wraps around; a cast of int64 to int32 keeps the values
      // that fit
      const bool is_kept = term.dtype == kInt64 ? from.bits < 64 || from.is_int()
                                                : inner.min >= INT32_MIN && inner.max <= INT32_MAX;
      return is_kept ? inner : ConstBounds{};
    }
    case Kind::kDiv: return trunc_div_bounds(arg(0), arg(1));
    case Kind::kMod: return trunc_mod_bounds(arg(0), arg(1));
    case Kind::kCall: break;
    default: return {};
  }
  const auto* op = term.object.as<OpNode>();
  if (!op) return {};
  const std::string_view name = op->name;
  if (name == "tir.if_then_else") return hull(arg(1), arg(2));
  if (name == "tir.bitwise_and" && is_integer(0) && is_integer(1)) {
    const ConstBounds a = arg(0), b = arg(1);
    if (a.min >= 0 && b.min >= 0) return {0, std::min(a.max, b.max)};
    if (a.min >= 0) return {0, a.max};
    return b.min >= 0 ? ConstBounds{0, b.max} : ConstBounds{};
  }
  if (name == "tir.shift_right" && arg(1).is_const() && arg(1).min >= 0 && arg(1).min < 31)
    return floor_div_by_one_sign(arg(0), {int64_t{1} << arg(1).min, int64_t{1} << arg(1).min});
  if (name == "tir.clz" || name == "tir.popcount") return {0, 64};
  if (name == "tir.vscale") return {1, kPosInf};
  return {};
}

}  // namespace tilewright::arith
