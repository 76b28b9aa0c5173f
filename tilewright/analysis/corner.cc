#include "tilewright/analysis/corner.h"

#include <algorithm>

#include "tilewright/ir/walk.h"
#include "tilewright/tir/arithmetic.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/uses.h"

namespace tilewright::analysis {
namespace {

using Values = std::vector<std::pair<const VarNode*, int64_t>>;

// At most 2^kMaxVars corners are tried; further variables keep their first value.
constexpr size_t kMaxVars = 10;

// The limits on the values tried for a variable in a quotient or remainder, and on the points tried per
// condition.
constexpr int64_t kMaxValues = 128, kMaxPoints = 512;

// The number of values of each variable that are tried besides its ends: nonzero for variables in a quotient
// or a remainder, counted from the innermost variable on.
std::vector<int64_t> num_between(const PrimExpr& condition, const std::vector<RangedVar>& vars) {
  std::vector<PrimExpr> divided;
  walk(condition, [&](const BinaryOpNode* op) {
    if (op->kind == Kind::kFloorMod || op->kind == Kind::kFloorDiv || op->kind == Kind::kMod ||
        op->kind == Kind::kDiv)
      divided.emplace_back(op->a);
  });
  std::vector<int64_t> counts(vars.size(), 0);
  int64_t points = 1;
  for (size_t n = vars.size(); n-- > 0;) {
    const bool is_divided = std::any_of(divided.begin(), divided.end(), [&](const PrimExpr& expr) {
      return uses(expr, vars[n].first.get());
    });
    int64_t extent;
    if (!is_divided || !as_const_int(vars[n].second->extent, &extent) || extent < 3) continue;
    const int64_t count = std::min(extent, kMaxValues);
    if (points * count > kMaxPoints) continue;
    points *= count;
    counts[n] = count - 2;
  }
  return counts;
}

// Searches the corners; returns true as soon as one refutes the condition.
bool search(const PrimExpr& condition, const PrimExpr& assumption, const std::vector<RangedVar>& vars,
            const std::vector<int64_t>& between, size_t next, Values* values) {
  if (next == vars.size()) {
    const auto assumed = assumption ? evaluate_at(assumption, *values) : std::optional<int64_t>(1);
    const auto holds = evaluate_at(condition, *values);
    return assumed && *assumed && holds && !*holds;
  }
  const auto min = evaluate_at(vars[next].second->min, *values),
             extent = evaluate_at(vars[next].second->extent, *values);
  if (!min || !extent || *extent <= 0) return false;
  std::vector<int64_t> ends{*min};
  if (*extent > 1 && next < kMaxVars) ends.push_back(*min + *extent - 1);
  for (int64_t n = 1; n <= between[next]; ++n) ends.push_back(*min + n);
  for (const int64_t value : ends) {
    values->emplace_back(vars[next].first.get(), value);
    if (search(condition, assumption, vars, between, next + 1, values)) return true;
    values->pop_back();
  }
  return false;
}

}  // namespace

bool uses_any(const PrimExpr& expr, const std::vector<RangedVar>& loops) {
  return tir::uses_any(expr, [&](const VarNode* var) {
    return std::any_of(loops.begin(), loops.end(),
                       [&](const RangedVar& loop) { return loop.first.get() == var; });
  });
}

std::optional<int64_t> evaluate_at(const PrimExpr& expr, const Values& values) {
  if (const auto* literal = expr.as<IntImmNode>()) return literal->value;
  if (const auto* var = expr.as<VarNode>()) {
    for (const auto& [known, value] : values) {
      if (known == var) return value;
    }
    return std::nullopt;
  }
  if (const auto* op = expr.as<BinaryOpNode>()) {
    if (op->a->dtype.is_float() || !op->a->dtype.is_scalar()) return std::nullopt;
    const auto a = evaluate_at(op->a, values), b = evaluate_at(op->b, values);
    return a && b ? fold_int(op->kind, *a, *b, op->a->dtype) : std::nullopt;
  }
  if (const auto* cast = expr.as<CastNode>()) {
    const auto value = cast->dtype.is_integral() && cast->value->dtype.is_integral()
                           ? evaluate_at(cast->value, values)
                           : std::nullopt;
    return value ? std::optional(wrap_int(*value, cast->dtype)) : std::nullopt;
  }
  if (const auto* negation = expr.as<NotNode>()) {
    const auto value = evaluate_at(negation->a, values);
    return value ? std::optional<int64_t>(!*value) : std::nullopt;
  }
  if (const auto* choice = expr.as<SelectNode>()) {
    const auto chosen = evaluate_at(choice->condition, values);
    return chosen ? evaluate_at(*chosen ? choice->true_value : choice->false_value, values) : std::nullopt;
  }
  const auto* call = expr.as<CallNode>();
  const auto* op = call ? call->op.as<OpNode>() : nullptr;
  if (op && op->name == "tir.likely") return evaluate_at(call->args[0], values);
  return std::nullopt;
}

std::optional<Values> corner_against(const PrimExpr& condition, const PrimExpr& assumption,
                                     const std::vector<RangedVar>& vars) {
  Values values;
  if (search(condition, assumption, vars, num_between(condition, vars), 0, &values)) return values;
  return std::nullopt;
}

std::string values_text(const Values& values) {
  std::string text;
  for (const auto& [var, value] : values)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", var->name_hint, value);
  return text;
}

}  // namespace tilewright::analysis
