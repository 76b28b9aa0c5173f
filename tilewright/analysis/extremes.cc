#include "tilewright/analysis/extremes.h"

#include <algorithm>
#include <cstdint>

#include "tilewright/arith/analyzer.h"
#include "tilewright/arith/expr_util.h"
#include "tilewright/ir/services.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"
#include "tilewright/tir/uses.h"

namespace tilewright::analysis {
namespace {

// `value` as int32 or int64.
PrimExpr as_index(const PrimExpr& value) {
  if (arith::is_index(value->dtype)) return value;
  // larger values are outside of every buffer as well
  if (value->dtype == DataType::uint(64) && !is<IntImmNode>(value))
    return tir::cast(kInt64, tir::min(value, make_const_int(value->dtype, INT64_MAX)));
  return tir::cast(kInt64, value);
}

PrimExpr choose(const PrimExpr& condition, PrimExpr a, PrimExpr b) {
  if (a->dtype == b->dtype) return select(condition, std::move(a), std::move(b));
  return select(condition, tir::cast(kInt64, std::move(a)), tir::cast(kInt64, std::move(b)));
}

Extreme either(const PrimExpr& condition, const Extreme& a, const Extreme& b) {
  Extreme result{choose(condition, a.value, b.value), a.at};
  for (const auto& [var, value] : b.at) {
    const auto [place, is_new] = result.at.emplace(var, value);
    if (!is_new)
      place->second =
          choose(condition, ir::ref_as<PrimExprNode>(place->second), ir::ref_as<PrimExprNode>(value));
  }
  return result;
}

// Joins the extremes of two parts of an index that share no variable.
Extreme joined(PrimExpr value, const Extreme& a, const Extreme& b) {
  Extreme result{std::move(value), a.at};
  result.at.insert(b.at.begin(), b.at.end());
  return result;
}

class Finder {
 public:
  explicit Finder(const std::vector<RangedVar>& loops) : loops_(loops) {}

  std::optional<Extremes> whole(const PrimExpr& expr) {
    auto result = of(expr);
    if (!result) return result;
    for (const PrimExpr& condition : conditions_)
      result->valid = result->valid ? logical_and(result->valid, condition) : condition;
    return result;
  }

 private:
  std::optional<Extremes> of(const PrimExpr& expr);
  std::optional<Extremes> of_var(const PrimExpr& var) const;
  std::optional<Extremes> of_choice(const PrimExpr& condition, const PrimExpr& a, const PrimExpr& b);
  std::optional<Extremes> of_call(const CallNode* call);
  std::optional<Extremes> of_operator(const BinaryOpNode* op);
  std::optional<Extremes> of_remainder(const PrimExpr& value, const PrimExpr& divisor, bool is_floor);
  std::optional<Extremes> within(std::optional<Extremes> found, DataType dtype);

  bool takes_all(const PrimExpr& expr) const;
  Substitution reach(const PrimExpr& expr, const PrimExpr& value);
  Substitution reach_operator(const BinaryOpNode* op, const PrimExpr& value);

  void assume(const PrimExpr& condition);
  bool depends(const PrimExpr& expr) const { return uses_any(expr, loops_); }
  bool share_variables(const PrimExpr& a, const PrimExpr& b) const {
    return std::any_of(loops_.begin(), loops_.end(), [&](const RangedVar& loop) {
      return uses(a, loop.first.get()) && uses(b, loop.first.get());
    });
  }

  const std::vector<RangedVar>& loops_;
  std::vector<PrimExpr> conditions_;  // assumed so far
};

void Finder::assume(const PrimExpr& condition) {
  const bool is_known =
      is_one(condition) || std::any_of(conditions_.begin(), conditions_.end(), [&](const PrimExpr& other) {
        return ir::structural_equal(other, condition);
      });
  if (!is_known) conditions_.push_back(condition);
}

std::optional<Extremes> Finder::of(const PrimExpr& expr) {
  if (!expr->dtype.is_integral()) return std::nullopt;
  if (!depends(expr)) {
    const Extreme same{as_index(expr), {}};
    return Extremes{same, same, nullptr};
  }
  if (expr.as<VarNode>()) return of_var(expr);
  if (const auto* op = expr.as<CastNode>()) return within(of(op->value), op->dtype);
  if (const auto* op = expr.as<SelectNode>())
    return of_choice(op->condition, op->true_value, op->false_value);
  if (const auto* call = expr.as<CallNode>()) return of_call(call);
  const auto* op = expr.as<BinaryOpNode>();
  if (!op || share_variables(op->a, op->b)) return std::nullopt;
  if (op->kind == Kind::kFloorMod || op->kind == Kind::kMod)
    return of_remainder(op->a, op->b, op->kind == Kind::kFloorMod);
  auto found = of_operator(op);
  // other integer types wrap around
  return arith::is_index(op->dtype) ? found : within(std::move(found), op->dtype);
}

std::optional<Extremes> Finder::of_var(const PrimExpr& var) const {
  for (const auto& [loop, range] : loops_) {
    if (loop.get() != var.get()) continue;
    PrimExpr first = as_index(range->min), last = first + as_index(range->extent) - 1;
    if (arith::is_index(var->dtype)) first = tir::cast(var->dtype, first), last = tir::cast(var->dtype, last);
    return Extremes{{first, {{var.as<VarNode>(), first}}}, {last, {{var.as<VarNode>(), last}}}, nullptr};
  }
  return std::nullopt;
}

// The extremes, valid only where all values fit in `dtype`.
std::optional<Extremes> Finder::within(std::optional<Extremes> found, DataType dtype) {
  if (!found || !dtype.is_integral()) return std::nullopt;
  PrimExpr &first = found->first.value, &last = found->last.value;
  if (dtype.is_uint()) assume(first >= 0);
  if (dtype == kInt64) {
    first = tir::cast(dtype, first), last = tir::cast(dtype, last);
  } else if (dtype.bits < 64 && (first->dtype != kInt32 || dtype != kInt32)) {
    const int values = dtype.is_int() ? dtype.bits - 1 : dtype.bits;
    if (values < 31 || first->dtype == kInt64) {
      const int64_t end = int64_t{1} << values;
      if (dtype.is_int()) assume(tir::cast(kInt64, first) >= -end);
      assume(tir::cast(kInt64, last) < end);
    }
  }
  return found;
}

std::optional<Extremes> Finder::of_choice(const PrimExpr& condition, const PrimExpr& a, const PrimExpr& b) {
  const auto x = depends(condition) ? std::nullopt : of(a), y = x ? of(b) : std::nullopt;
  if (!y) return std::nullopt;
  return Extremes{either(condition, x->first, y->first), either(condition, x->last, y->last), nullptr};
}

std::optional<Extremes> Finder::of_call(const CallNode* call) {
  if (is_if_then_else(call)) {
    return of_choice(call->args[0], call->args[1], call->args[2]);
  }
  const bool is_left = is_call_of(call, "tir.shift_left"), is_right = is_call_of(call, "tir.shift_right");
  const bool is_mask = is_call_of(call, "tir.bitwise_and");
  if (!is_left && !is_right && !is_mask) return std::nullopt;
  const PrimExpr value = call->args[0];
  int64_t count;
  if (!as_const_int(call->args[1], &count) || count < 0) return std::nullopt;
  if (is_mask) {  // i & 7 is i % 8
    if (count == 0 || count == INT64_MAX || (count & (count + 1)) != 0) return std::nullopt;
    return of_remainder(value, make_const_int(kInt64, count + 1), true);
  }
  auto found = of(value);
  if (!found || count >= call->dtype.bits - 1) return std::nullopt;
  const PrimExpr factor = imm(int64_t{1} << count, kInt64);
  for (Extreme* extreme : {&found->first, &found->last})
    extreme->value = is_left ? extreme->value * factor : floordiv(extreme->value, factor);
  return is_left ? within(std::move(found), call->dtype) : found;
}

std::optional<Extremes> Finder::of_operator(const BinaryOpNode* op) {
  const auto a = of(op->a), b = a ? of(op->b) : std::nullopt;
  if (!b) return std::nullopt;
  const auto at = [&](const Extreme& x, const Extreme& y) {
    return joined(binary(op->kind, x.value, y.value), x, y);
  };
  // increasing if the operand that does not depend on loops is not negative, else decreasing
  const auto turned = [&](const Extremes& moving, const PrimExpr& fixed, const auto& value) {
    const Extreme first{value(moving.first.value), moving.first.at};
    const Extreme last{value(moving.last.value), moving.last.at};
    int64_t number;
    if (as_const_int(fixed, &number))
      return number >= 0 ? Extremes{first, last, nullptr} : Extremes{last, first, nullptr};
    const PrimExpr is_up = fixed >= 0;
    return Extremes{either(is_up, first, last), either(is_up, last, first), nullptr};
  };
  switch (op->kind) {
    case Kind::kAdd:
    case Kind::kMin:
    case Kind::kMax: return Extremes{at(a->first, b->first), at(a->last, b->last), nullptr};
    case Kind::kSub: return Extremes{at(a->first, b->last), at(a->last, b->first), nullptr};
    case Kind::kMul: {
      if (depends(op->a) && depends(op->b)) return std::nullopt;
      const auto &moving = depends(op->a) ? *a : *b, &fixed = depends(op->a) ? *b : *a;
      const PrimExpr factor = fixed.first.value;
      return turned(moving, factor, [&](const PrimExpr& value) { return value * factor; });
    }
    case Kind::kDiv:
    case Kind::kFloorDiv: {
      if (depends(op->b) || is_zero(op->b)) return std::nullopt;
      const PrimExpr divisor = b->first.value;
      return turned(*a, divisor, [&](const PrimExpr& value) { return binary(op->kind, value, divisor); });
    }
    default: return std::nullopt;
  }
}

// `value` takes all values between its ends, so either it reaches the last one below a multiple of the
// divisor, or it passes no multiple.
std::optional<Extremes> Finder::of_remainder(const PrimExpr& value, const PrimExpr& divisor, bool is_floor) {
  if (depends(divisor) || !depends(value) || !takes_all(value)) return std::nullopt;
  const auto found = of(value), by = of(divisor);
  if (!found || !by) return std::nullopt;
  const PrimExpr &low = found->first.value, &high = found->last.value, &d = by->first.value;
  int64_t number;
  if (as_const_int(d, &number) && number <= 0) return std::nullopt;
  assume(d > 0);
  const auto at = [&](const PrimExpr& place, const PrimExpr& rest) {
    return Extreme{rest, reach(value, place)};
  };
  const auto least = [&](const PrimExpr& from, const PrimExpr& to) {
    const PrimExpr multiple = floordiv(from + (d - 1), d) * d;
    return choose(multiple <= to, multiple, from);
  };
  const auto largest = [&](const PrimExpr& from, const PrimExpr& to) {
    const PrimExpr below = floordiv(from, d) * d + (d - 1);
    return choose(below <= to, below, to);
  };
  if (is_floor) {
    const PrimExpr first = least(low, high), last = largest(low, high);
    return Extremes{at(first, floormod(first, d)), at(last, floormod(last, d)), nullptr};
  }
  // truncated division: the sign of the value; mirrored below zero
  const PrimExpr zero = make_const_int(low->dtype, 0);
  const PrimExpr up_first = least(low, high), up_last = largest(tir::max(low, zero), high);
  const PrimExpr down_first = zero - largest(tir::max(zero - high, zero), zero - low);
  const PrimExpr down_last = zero - least(zero - high, zero - low);
  const auto down = [&](const PrimExpr& place) { return at(place, zero - floormod(zero - place, d)); };
  return Extremes{either(low < 0, down(down_first), at(up_first, floormod(up_first, d))),
                  either(high < 0, down(down_last), at(up_last, floormod(up_last, d))), nullptr};
}

// True if `expr`, which depends on loops and whose operands share none, takes all values between its
// extremes.
bool Finder::takes_all(const PrimExpr& expr) const {
  if (!depends(expr) || expr.as<VarNode>()) return true;
  if (const auto* op = expr.as<CastNode>()) return takes_all(op->value);
  const auto* op = expr.as<BinaryOpNode>();
  if (!op) return false;
  int64_t number;
  switch (op->kind) {
    case Kind::kAdd:
    case Kind::kSub: return takes_all(op->a) && takes_all(op->b);
    case Kind::kMin:
    case Kind::kMax: return depends(op->a) != depends(op->b) && takes_all(op->a) && takes_all(op->b);
    case Kind::kDiv:
    case Kind::kFloorDiv: return as_const_int(op->b, &number) && number > 0 && takes_all(op->a);
    default: return false;
  }
}

// Values of loop variables at which `expr` equals `value`; `expr` takes all values between its extremes.
Substitution Finder::reach(const PrimExpr& expr, const PrimExpr& value) {
  if (!depends(expr)) return {};
  if (const auto* var = expr.as<VarNode>()) return {{var, value}};
  if (const auto* op = expr.as<CastNode>()) return reach(op->value, value);
  return reach_operator(expr.as<BinaryOpNode>(), value);
}

Substitution Finder::reach_operator(const BinaryOpNode* op, const PrimExpr& value) {
  const Extremes a = *of(op->a), b = *of(op->b);
  const auto inside = [](const Extremes& range, const PrimExpr& wanted) {
    return tir::max(tir::min(wanted, range.last.value), range.first.value);
  };
  const auto both = [&](const PrimExpr& of_a, const PrimExpr& of_b) {
    Substitution result = reach(op->a, of_a);
    result.merge(reach(op->b, of_b));
    return result;
  };
  switch (op->kind) {
    case Kind::kAdd: {
      const PrimExpr first = inside(a, value - b.first.value);
      return both(first, value - first);
    }
    case Kind::kSub: {
      const PrimExpr first = inside(a, value + b.first.value);
      return both(first, first - value);
    }
    case Kind::kMin:
    case Kind::kMax: return both(inside(a, value), inside(b, value));
    default: return reach(op->a, inside(a, value * b.first.value));
  }
}

}  // namespace

std::optional<Extremes> extremes(const PrimExpr& index, const std::vector<RangedVar>& loops) {
  if (!arith::is_arithmetic(index)) return std::nullopt;
  return Finder(loops).whole(index);
}

}  // namespace tilewright::analysis
