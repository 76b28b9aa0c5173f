// min, max and select of integers.
#include <algorithm>
#include <numeric>

#include "tilewright/arith/rule.h"
#include "tilewright/arith/state.h"

namespace tilewright::arith {
namespace {

// The part that sums a and b have in common: terms with equal coefficients.
Linear common_parts(const Linear& a, const Linear& b) {
  Linear common;
  std::set_intersection(
      a.terms.begin(), a.terms.end(), b.terms.begin(), b.terms.end(), std::back_inserter(common.terms),
      [](const Arg& x, const Arg& y) { return std::pair(x.id, x.coeff) < std::pair(y.id, y.coeff); });
  return common;
}

bool is_negative_sum(const Linear& a) {
  return a.constant <= 0 &&
         std::all_of(a.terms.begin(), a.terms.end(), [](const Arg& part) { return part.coeff < 0; });
}

}  // namespace

Id Analyzer::State::min_max(bool is_min, Id a, Id b) {
  const DataType dtype = terms[a].dtype;
  const Linear x = terms.linear(a), y = terms.linear(b);
  const Linear difference = normalized(x - y, dtype);
  if (!difference.is_exact) throw NotRepresentable{};
  if (proves_ge0(difference)) return is_min ? b : a;
  if (proves_ge0(scaled(difference, -1))) return is_min ? a : b;
  // min(x + t, y + t) = min(x, y) + t
  Linear common = common_parts(x, y);
  if (!x.is_const() && !y.is_const() && x.constant != 0 && y.constant != 0) common.constant = y.constant;
  if (!common.is_const() || common.constant != 0) {
    const Id rest = min_max(is_min, sum(x - common, dtype), sum(y - common, dtype));
    return sum(common + terms.linear(rest), dtype);
  }
  // min(k * x, k * y) = k * min(x, y), k > 0
  int64_t factor = std::gcd(content(x), content(y));
  factor = std::gcd(std::gcd(factor, x.constant), y.constant);
  if (factor > 1) {
    const Id rest = min_max(is_min, sum(divided(x, factor), dtype), sum(divided(y, factor), dtype));
    return sum(scaled(terms.linear(rest), factor), dtype);
  }
  // min(-x, -y) = -max(x, y)
  if (is_negative_sum(x) && is_negative_sum(y)) {
    const Id rest = min_max(!is_min, sum(scaled(x, -1), dtype), sum(scaled(y, -1), dtype));
    return sum(scaled(terms.linear(rest), -1), dtype);
  }
  const Arg args[] = {{std::min(a, b)}, {std::max(a, b)}};
  const Id raw = terms.intern(is_min ? Op::kMin : Op::kMax, dtype, args);
  if (auto simpler = apply_rules(*this, kMinMaxRules, raw)) return *simpler;
  return atom(raw);
}

Id Analyzer::State::select(Id condition, Id true_value, Id false_value) {
  if (terms[condition].op == Op::kConst) return terms[condition].value ? true_value : false_value;
  if (true_value == false_value) return true_value;
  if (terms[condition].op == Op::kNot) return select(terms.arg(condition, 0), false_value, true_value);
  const DataType dtype = terms[true_value].dtype;
  if (is_index(dtype)) {
    // select(p, x + t, y + t) = select(p, x, y) + t
    const Linear x = terms.linear(true_value), y = terms.linear(false_value);
    const Linear common = common_parts(x, y);
    if (!common.is_const() && (x - common).is_exact && (y - common).is_exact) {
      const Id rest = select(condition, sum(x - common, dtype), sum(y - common, dtype));
      return sum(common + terms.linear(rest), dtype);
    }
  }
  const Arg args[] = {{condition}, {true_value}, {false_value}};
  const Id raw = terms.intern(Op::kSelect, dtype, args);
  if (auto simpler = apply_rules(*this, kSelectRules, raw)) return *simpler;
  return is_index(dtype) || dtype.is_bool() ? atom(raw) : raw;
}

}  // namespace tilewright::arith
