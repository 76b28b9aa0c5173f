#include "tilewright/te/solve_indices.h"

#include <algorithm>
#include <optional>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/services.h"
#include "tilewright/tir/uses.h"

namespace tilewright::te {
namespace {

// coefficient * var + rest
struct Linear {
  int64_t coefficient;
  PrimExpr rest;
};

std::optional<Linear> linear_in(const PrimExpr& value, const Var& var) {
  if (value == var) return Linear{1, imm(0, var->dtype)};
  if (!uses(value, var.get())) return Linear{0, value};
  const auto* op = value.as<BinaryOpNode>();
  if (!op) return std::nullopt;
  const std::optional<Linear> a = linear_in(op->a, var), b = linear_in(op->b, var);
  if (!a || !b) return std::nullopt;
  int64_t factor = 0;
  switch (op->kind) {
    case Kind::kAdd: return Linear{a->coefficient + b->coefficient, a->rest + b->rest};
    case Kind::kSub: return Linear{a->coefficient - b->coefficient, a->rest - b->rest};
    case Kind::kMul:
      if (as_const_int(op->b, &factor)) return Linear{a->coefficient * factor, a->rest * op->b};
      if (as_const_int(op->a, &factor)) return Linear{b->coefficient * factor, op->a * b->rest};
      return std::nullopt;
    default: return std::nullopt;
  }
}

class Solving {
 public:
  Solving(std::vector<IndexEquation> equations, const std::vector<IterVar>& axes)
      : equations_(std::move(equations)) {
    solved_.left = axes;
  }

  SolvedIndices run() {
    join_digits();
    for (size_t n = 0; n < equations_.size(); ++n) solve(n);
    return std::move(solved_);
  }

 private:
  // x // c == a and x % c == b  <=>  x == a * c + b and 0 <= b < c
  void join_digits() {
    for (size_t n = 0; n < equations_.size(); ++n) {
      const auto* high = equations_[n].first.as<BinaryOpNode>();
      if (!high || high->kind != Kind::kFloorDiv) continue;
      for (size_t other = 0; other < equations_.size(); ++other) {
        const auto* low = equations_[other].first.as<BinaryOpNode>();
        if (!low || low->kind != Kind::kFloorMod || !ir::structural_equal(low->a, high->a) ||
            !ir::structural_equal(low->b, high->b))
          continue;
        const PrimExpr digit = equations_[other].second;
        solved_.conditions.push_back(logical_and(imm(0, digit->dtype) <= digit, digit < high->b));
        equations_[n] = {high->a, equations_[n].second * high->b + digit};
        equations_.erase(equations_.begin() + static_cast<long>(other));
        join_digits();
        return;
      }
    }
  }

  // The longest axis is determined, so that the sum over the others is short.
  void solve(size_t number) {
    const PrimExpr difference = equations_[number].first, right = equations_[number].second;
    std::optional<size_t> best;
    std::optional<Linear> form;
    int64_t best_extent = -1;
    for (size_t n = 0; n < solved_.left.size(); ++n) {
      const std::optional<Linear> found = linear_in(difference - right, solved_.left[n]->var);
      if (!found || found->coefficient == 0) continue;
      int64_t extent = INT64_MAX;
      as_const_int(solved_.left[n]->dom->extent, &extent);
      if (extent <= best_extent) continue;
      best = n, form = found, best_extent = extent;
    }
    if (!best) {
      solved_.conditions.push_back(equal(difference, right));
      return;
    }
    const IterVar axis = solved_.left[*best];
    solved_.left.erase(solved_.left.begin() + static_cast<long>(*best));
    determine(axis, *form);
  }

  // coefficient * axis + rest == 0
  void determine(const IterVar& axis, const Linear& form) {
    const bool is_negative = form.coefficient < 0;
    const int64_t size = is_negative ? -form.coefficient : form.coefficient;
    const PrimExpr product = is_negative ? form.rest : imm(0, axis->var->dtype) - form.rest;
    const PrimExpr value = arith::simplify(size == 1 ? product : floordiv(product, size));
    if (size != 1) solved_.conditions.push_back(equal(floormod(product, size), imm(0, axis->var->dtype)));
    solved_.conditions.push_back(axis->dom->min <= value);
    solved_.conditions.push_back(value < axis->dom->min + axis->dom->extent);
    const Substitution found{{axis->var.get(), value}};
    for (auto& [var, other] : solved_.values) other = substitute(ref_as<PrimExprNode>(other), found);
    for (PrimExpr& condition : solved_.conditions) condition = substitute(condition, found);
    for (auto& [left, right] : equations_) left = substitute(left, found), right = substitute(right, found);
    solved_.values[axis->var.get()] = value;
  }

  std::vector<IndexEquation> equations_;
  SolvedIndices solved_;
};

}  // namespace

SolvedIndices solve_indices(std::vector<IndexEquation> equations, const std::vector<IterVar>& axes) {
  return Solving(std::move(equations), axes).run();
}

}  // namespace tilewright::te
