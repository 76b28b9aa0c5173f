#include "tilewright/schedule/legality/axis_solver.h"

#include "tilewright/ir/walk.h"
#include "tilewright/tir/arithmetic.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

// index = sum of coefficient * axis + base
struct Linear {
  std::vector<int64_t> coefficients;
  PrimExpr base;
};

class LinearReader {
 public:
  explicit LinearReader(const std::vector<IterVar>& axes) : axes_(axes) {}

  std::optional<Linear> read(const PrimExpr& expr) const {
    Linear result{std::vector<int64_t>(axes_.size(), 0), imm(0, expr->dtype)};
    if (!add(expr, 1, &result)) return std::nullopt;
    return result;
  }
  bool uses_axis(const PrimExpr& expr) const {
    bool found = false;
    walk(expr, [&](const VarNode* var) { found |= position(var) < axes_.size(); });
    return found;
  }

 private:
  size_t position(const VarNode* var) const {
    size_t n = 0;
    while (n < axes_.size() && axes_[n]->var.get() != var) ++n;
    return n;
  }
  bool add(const PrimExpr& expr, int64_t factor, Linear* result) const {
    if (!uses_axis(expr)) {
      result->base = result->base + expr * make_const_int(expr->dtype, factor);
      return true;
    }
    if (const auto* var = expr.as<VarNode>()) {
      result->coefficients[position(var)] += factor;
      return true;
    }
    if (const auto* sum = expr.as<AddNode>())
      return add(sum->a, factor, result) && add(sum->b, factor, result);
    if (const auto* difference = expr.as<SubNode>())
      return add(difference->a, factor, result) && add(difference->b, -factor, result);
    if (const auto* product = expr.as<MulNode>()) {
      int64_t by;
      if (as_const_int(product->b, &by) && !__builtin_mul_overflow(by, factor, &by))
        return add(product->a, by, result);
      if (as_const_int(product->a, &by) && !__builtin_mul_overflow(by, factor, &by))
        return add(product->b, by, result);
    }
    return false;
  }
  const std::vector<IterVar>& axes_;
};

PrimExpr divided(const PrimExpr& value, int64_t by) {
  return by == 1 ? value : floordiv(value, make_const_int(value->dtype, by));
}
PrimExpr divided_up(const PrimExpr& value, int64_t by) {
  return by == 1 ? value : floordiv(value + (by - 1), make_const_int(value->dtype, by));
}

// The axis with the largest step, if all others together move the index by less than one step of it; what
// they move it.
struct Leading {
  size_t axis;
  int64_t step, others;
};
std::optional<Leading> leading_axis(const Linear& linear, const std::vector<IterVar>& axes,
                                    arith::Analyzer& analyzer) {
  Leading lead{axes.size(), 0, 0};
  for (size_t n = 0; n < axes.size(); ++n) {
    if (linear.coefficients[n] < 0) return std::nullopt;
    if (linear.coefficients[n] > lead.step) lead = {n, linear.coefficients[n], 0};
  }
  if (lead.step == 0) return std::nullopt;
  for (size_t n = 0; n < axes.size(); ++n) {
    if (n == lead.axis || linear.coefficients[n] == 0) continue;
    const arith::ConstBounds extent = analyzer.const_bounds(axes[n]->dom->extent);
    if (extent.max == arith::kPosInf || !is_zero(axes[n]->dom->min)) return std::nullopt;
    lead.others += (extent.max - 1) * linear.coefficients[n];
  }
  if (lead.others >= lead.step) return std::nullopt;
  return lead;
}

void apply_constraint(const std::vector<IterVar>& axes, PrimExpr index, PrimExpr extent,
                      arith::Interval target, AxisGoal goal, std::vector<arith::Interval>* result,
                      arith::Analyzer& analyzer) {
  if (!target.is_bounded()) return;
  const LinearReader reader(axes);
  // x // c in [m, M]  <=>  x in [m * c, M * c + c - 1]
  for (const auto* quotient = index.as<FloorDivNode>(); quotient; quotient = index.as<FloorDivNode>()) {
    int64_t by;
    if (!is_one(extent) || !as_const_int(quotient->b, &by) || by < 1) return;
    target = {target.min * by, target.max * by + (by - 1)};
    index = quotient->a;
  }
  const std::optional<Linear> linear = reader.read(index);
  if (!linear) return;
  const std::optional<Leading> lead = leading_axis(*linear, axes, analyzer);
  if (!lead) return;
  const PrimExpr low = target.min - linear->base, high = target.max - linear->base;
  const PrimExpr spread = extent + (lead->others - 1);  // the access covers step * axis + base + [0, spread]
  arith::Interval solved;
  if (goal == AxisGoal::kTouch)
    solved = {divided_up(low - spread, lead->step), divided(high, lead->step)};
  else
    solved = {divided_up(low, lead->step), divided(high - spread, lead->step)};
  solved = {analyzer.simplify(solved.min), analyzer.simplify(solved.max)};
  arith::Interval& known = (*result)[lead->axis];
  known = known.is_bounded() ? arith::intersect(known, solved, analyzer) : solved;
}

}  // namespace

std::vector<arith::Interval> solve_axes(const std::vector<IterVar>& axes,
                                        const std::vector<AxisConstraint>& constraints, AxisGoal goal,
                                        arith::Analyzer& analyzer) {
  std::vector<arith::Interval> result(axes.size());
  for (const AxisConstraint& constraint : constraints)
    apply_constraint(axes, constraint.index, constraint.extent, constraint.target, goal, &result, analyzer);
  return result;
}

void AxisNest::require(const PrimExpr& condition) { predicate = logical_and(predicate, condition); }

AxisNest make_nest(const std::vector<IterVar>& axes, const std::vector<arith::Interval>& intervals,
                   const std::vector<Range>& domains, bool keep_unit_loops, arith::Analyzer& analyzer) {
  AxisNest nest{{}, {}, bool_imm(true)};
  for (size_t n = 0; n < axes.size(); ++n) {
    const DataType dtype = axes[n]->var->dtype;
    const Range& domain = domains[n];
    PrimExpr min = domain->min, extent = domain->extent;
    if (intervals[n].is_bounded()) {
      PrimExpr width = analyzer.simplify(intervals[n].max - intervals[n].min + 1);
      const arith::ConstBounds bounds = analyzer.const_bounds(width);
      if (!is<IntImmNode>(width) && bounds.max != arith::kPosInf)
        width = make_const_int(width->dtype, bounds.max);
      if (is<IntImmNode>(width) && !analyzer.can_prove(width >= domain->extent))
        min = intervals[n].min, extent = width;
    }
    min = analyzer.simplify(cast(dtype, min));
    extent = analyzer.simplify(cast(dtype, extent));
    PrimExpr value = min;
    if (keep_unit_loops || !is_one(extent)) {
      Var var = make_var(fmt::format("ax{}", nest.loops.size()), dtype);
      analyzer.bind(var, make_range(imm(0, dtype), extent));
      nest.loops.emplace_back(var, extent);
      value = is_zero(min) ? PrimExpr(var) : min + var;
    }
    nest.values.push_back(analyzer.simplify(value));
    // not simplified from here on where unit loops are to be kept visible
    if (keep_unit_loops && is_one(extent)) nest.values.back() = value;
    const PrimExpr at_least = analyzer.simplify(nest.values.back() >= domain->min);
    const PrimExpr below = analyzer.simplify(nest.values.back() < domain->min + domain->extent);
    nest.require(at_least);
    nest.require(below);
  }
  return nest;
}

}  // namespace tilewright::schedule
