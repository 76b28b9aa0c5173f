#include "tilewright/analysis/extremes.h"

#include "tilewright/arith/analyzer.h"
#include "tilewright/arith/expr_util.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/uses.h"

namespace tilewright::analysis {
namespace {

Extreme either(const PrimExpr& condition, const Extreme& a, const Extreme& b) {
  Extreme result{select(condition, a.value, b.value), a.at};
  for (auto& [var, value] : result.at)
    value = select(condition, ir::ref_as<PrimExprNode>(value), ir::ref_as<PrimExprNode>(b.at.at(var)));
  return result;
}

// Of two parts of an index that share no variable.
Extreme joined(PrimExpr value, const Extreme& a, const Extreme& b) {
  Extreme result{std::move(value), a.at};
  result.at.insert(b.at.begin(), b.at.end());
  return result;
}

class Finder {
 public:
  explicit Finder(const std::vector<RangedVar>& loops) : loops_(loops) {}

  std::optional<Extremes> of(const PrimExpr& expr) const {
    if (!depends(expr)) return Extremes{{expr, {}}, {expr, {}}};
    if (expr.as<VarNode>()) return of_var(expr);
    if (const auto* op = expr.as<CastNode>()) return of_cast(op);
    const auto* op = expr.as<BinaryOpNode>();
    if (!op || !op->dtype.is_integral() || share_variables(op->a, op->b)) return std::nullopt;
    const auto a = of(op->a);
    if (!a) return std::nullopt;
    if (op->kind == Kind::kFloorMod) return of_remainder(op, *a);
    const auto b = of(op->b);
    if (!b) return std::nullopt;
    switch (op->kind) {
      case Kind::kAdd:
      case Kind::kMin:
      case Kind::kMax: {
        auto at = [&](const Extreme& x, const Extreme& y) {
          return joined(binary(op->kind, x.value, y.value), x, y);
        };
        return Extremes{at(a->first, b->first), at(a->last, b->last)};
      }
      case Kind::kSub: {
        auto at = [&](const Extreme& x, const Extreme& y) { return joined(x.value - y.value, x, y); };
        return Extremes{at(a->first, b->last), at(a->last, b->first)};
      }
      case Kind::kMul:
        if (depends(op->b) && depends(op->a)) return std::nullopt;
        if (depends(op->b)) return scaled(*b, op->a);
        return scaled(*a, op->b);
      case Kind::kFloorDiv: {
        int64_t divisor;
        if (!as_const_int(op->b, &divisor) || divisor <= 0) return std::nullopt;
        auto at = [&](const Extreme& x) { return Extreme{floordiv(x.value, op->b), x.at}; };
        return Extremes{at(a->first), at(a->last)};
      }
      default: return std::nullopt;
    }
  }

 private:
  bool depends(const PrimExpr& expr) const {
    return std::any_of(loops_.begin(), loops_.end(),
                       [&](const RangedVar& loop) { return uses(expr, loop.first.get()); });
  }

  bool share_variables(const PrimExpr& a, const PrimExpr& b) const {
    return std::any_of(loops_.begin(), loops_.end(), [&](const RangedVar& loop) {
      return uses(a, loop.first.get()) && uses(b, loop.first.get());
    });
  }

  std::optional<Extremes> of_var(const PrimExpr& var) const {
    for (const auto& [loop, range] : loops_) {
      if (loop.get() != var.get()) continue;
      const PrimExpr first = tir::cast(var->dtype, range->min),
                     last = tir::cast(var->dtype, range->min + range->extent - 1);
      return Extremes{{first, {{var.get(), first}}}, {last, {{var.get(), last}}}};
    }
    return std::nullopt;
  }

  // To fewer bits the values may wrap.
  std::optional<Extremes> of_cast(const CastNode* op) const {
    const DataType to = op->dtype, from = op->value->dtype;
    if (!to.is_int() || !from.is_int() || to.bits < from.bits) return std::nullopt;
    auto result = of(op->value);
    if (!result) return result;
    result->first.value = tir::cast(to, result->first.value);
    result->last.value = tir::cast(to, result->last.value);
    return result;
  }

  static Extremes scaled(const Extremes& a, const PrimExpr& factor) {
    const Extreme first{a.first.value * factor, a.first.at}, last{a.last.value * factor, a.last.at};
    int64_t number;
    if (as_const_int(factor, &number)) return number >= 0 ? Extremes{first, last} : Extremes{last, first};
    const PrimExpr is_up = factor >= 0;
    return {either(is_up, first, last), either(is_up, last, first)};
  }

  // (i + k) % c: between its ends the sum takes all values, so that the last one below a multiple of c is
  // reached, or else the sum itself does not pass one.
  std::optional<Extremes> of_remainder(const BinaryOpNode* op, const Extremes& a) const {
    int64_t divisor;
    const auto* var = the_variable(op->a);
    if (!var || !as_const_int(op->b, &divisor) || divisor <= 0) return std::nullopt;
    const PrimExpr &low = a.first.value, &high = a.last.value;
    auto at = [&](const PrimExpr& sum) {
      // the variable counts once, so that it moves with the sum from where that is smallest
      const PrimExpr start = ir::ref_as<PrimExprNode>(a.first.at.at(var));
      return Extreme{floormod(sum, op->b), {{var, start + tir::cast(start->dtype, sum - low)}}};
    };
    const PrimExpr multiple = floordiv(low + (divisor - 1), op->b) * op->b;
    const PrimExpr below = floordiv(low, op->b) * op->b + (divisor - 1);
    return Extremes{either(multiple <= high, at(multiple), at(low)),
                    either(below <= high, at(below), at(high))};
  }

  // The loop variable of a sum of it and numbers that no loop changes.
  const VarNode* the_variable(const PrimExpr& expr) const {
    if (const auto* var = expr.as<VarNode>()) return var;
    if (const auto* op = expr.as<CastNode>()) return the_variable(op->value);
    const auto* op = expr.as<BinaryOpNode>();
    if (!op || (op->kind != Kind::kAdd && op->kind != Kind::kSub)) return nullptr;
    if (!depends(op->b)) return the_variable(op->a);
    return op->kind == Kind::kAdd && !depends(op->a) ? the_variable(op->b) : nullptr;
  }

  const std::vector<RangedVar>& loops_;
};

}  // namespace

std::optional<Extremes> extremes(const PrimExpr& index, const std::vector<RangedVar>& loops) {
  if (!arith::is_harmless(index)) return std::nullopt;
  return Finder(loops).of(index);
}

}  // namespace tilewright::analysis
