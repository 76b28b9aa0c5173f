// Comparisons of integers: form >= 0 and form == 0.
#include <algorithm>
#include <numeric>

#include "tilewright/arith/rule.h"
#include "tilewright/arith/state.h"
#include "tilewright/tir/arithmetic.h"

namespace tilewright::arith {
namespace {

// base * high + low >= 0 is high + q >= 0 if floor(low / base) is always the constant q.  Sets *shorter and
// returns true if so.
bool drop_low_part(Analyzer::State& state, const Linear& form, Linear* shorter) {
  constexpr size_t kMaxBases = 6;
  std::vector<int64_t> bases;
  for (const Arg& part : form.terms) {
    const int64_t base = std::abs(part.coeff);
    if (base > 1 && bases.size() < kMaxBases && std::find(bases.begin(), bases.end(), base) == bases.end())
      bases.push_back(base);
  }
  for (const int64_t base : bases) {
    Linear high, low{{}, form.constant};
    for (const Arg& part : form.terms) (part.coeff % base == 0 ? high : low).terms.push_back(part);
    if (low.terms.empty()) continue;
    const ConstBounds around = state.bounds(low);
    if (!around.is_bounded() || floordiv_int(around.min, base) != floordiv_int(around.max, base)) continue;
    *shorter = shifted(divided(high, base), floordiv_int(around.min, base));
    return true;
  }
  return false;
}

// x // c + w >= 0  =>  x + c * w >= 0,   w - x // c >= 0  =>  c * w + c - 1 - x >= 0
bool drop_division(const TermTable& terms, const Linear& form, Linear* without) {
  for (const Arg& part : form.terms) {
    if (std::abs(part.coeff) != 1 || terms[part.id].op != Op::kFloorDiv) continue;
    const Term& divisor = terms[terms.arg(part.id, 1)];
    if (divisor.op != Op::kConst || divisor.value <= 0) continue;
    const Linear value = terms.linear(terms.arg(part.id, 0));
    const Linear rest = scaled(form - Linear{{part}, 0}, divisor.value);
    *without = part.coeff > 0 ? rest + value : shifted(rest - value, divisor.value - 1);
    return without->is_exact;
  }
  return false;
}

}  // namespace

Id Analyzer::State::greater_equal_0(const Linear& given, DataType dtype) {
  Linear form = normalized(given, dtype);
  if (!form.is_exact) throw NotRepresentable{};
  if (form.is_const()) return truth_value(form.constant >= 0);
  const int64_t divisor = content(form);
  form.constant = floordiv_int(form.constant, divisor) * divisor;
  form = divided(std::move(form), divisor);
  if (proves_ge0(form)) return truth_value(true);
  if (proves_ge0(shifted(scaled(form, -1), -1))) return truth_value(false);
  Linear simpler;
  if (drop_low_part(*this, form, &simpler) || drop_division(terms, form, &simpler))
    return greater_equal_0(simpler, dtype);
  // the condition and its negation share one term, so that a fact about one decides the other
  const Arg arg{sum(form, dtype)};
  const Id raw = terms.intern(Op::kGE0, kBoolType, {&arg, 1});
  if (auto replaced = apply_rules(*this, kCompareRules, raw)) return *replaced;
  return atom(raw);
}

Id Analyzer::State::equal_0(const Linear& given, DataType dtype) {
  Linear form = normalized(given, dtype);
  if (!form.is_exact) throw NotRepresentable{};
  if (form.is_const()) return truth_value(form.constant == 0);
  const int64_t divisor = content(form);
  if (form.constant % divisor != 0) return truth_value(false);
  form = divided(std::move(form), divisor);
  if (form.terms[0].coeff < 0) form = scaled(form, -1);
  const ModularSet multiple = modular(form);
  if (multiple.coeff > 1 && multiple.base != 0) return truth_value(false);
  const bool is_at_least = proves_ge0(form), is_at_most = proves_ge0(scaled(form, -1));
  if (is_at_least && is_at_most) return truth_value(true);
  if (proves_ge0(shifted(form, -1)) || proves_ge0(shifted(scaled(form, -1), -1))) return truth_value(false);
  const Arg arg{sum(form, dtype)};
  const Id raw = terms.intern(Op::kEQ0, kBoolType, {&arg, 1});
  if (auto replaced = apply_rules(*this, kCompareRules, raw)) return *replaced;
  return atom(raw);
}

}  // namespace tilewright::arith
