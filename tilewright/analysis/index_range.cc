#include "tilewright/analysis/index_range.h"

#include <algorithm>

#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/tir/arithmetic.h"
#include "tilewright/tir/builder.h"

namespace tilewright::analysis {
namespace {

using MaybeRange = std::optional<IndexRange>;

// A constant plus a sum of terms, each a constant times an expression that is not a sum.
struct Sum {
  std::vector<std::pair<PrimExpr, int64_t>> terms;
  int64_t constant = 0;

  void add(const PrimExpr& expr, int64_t factor) {
    int64_t value;
    if (as_const_int(expr, &value)) {
      constant += factor * value;
      return;
    }
    if (const auto* sum = expr.as<AddNode>()) return add(sum->a, factor), add(sum->b, factor);
    if (const auto* difference = expr.as<SubNode>())
      return add(difference->a, factor), add(difference->b, -factor);
    const auto* product = expr.as<MulNode>();
    if (product && as_const_int(product->b, &value)) return add(product->a, factor * value);
    if (product && as_const_int(product->a, &value)) return add(product->b, factor * value);
    for (auto& [term, count] : terms) {
      if (term == expr || structural_equal(term, expr)) {
        count += factor;
        return;
      }
    }
    terms.emplace_back(expr, factor);
  }
};

bool is_multiple_of(const PrimExpr& expr, int64_t factor) {
  Sum sum;
  sum.add(expr, 1);
  return sum.constant % factor == 0 && std::all_of(sum.terms.begin(), sum.terms.end(),
                                                   [&](auto& term) { return term.second % factor == 0; });
}

bool is_fixed(const PrimExpr& expr, const IndexScope& scope) {
  bool fixed = true;
  walk(
      expr, [&](const tir::VarNode* var) { fixed = fixed && !scope.domains.contains(var); },
      [&](const BufferLoadNode* load) { fixed = fixed && !scope.unstable.contains(load->buffer.get()); },
      [&](const RampNode*) { fixed = false; }, [&](const BroadcastNode*) { fixed = false; });
  return fixed;
}

IndexRange point(const PrimExpr& expr) { return {expr, make_const_int(expr->dtype, 0)}; }
IndexRange constant_range(DataType dtype, int64_t min, int64_t max) {
  return {make_const_int(dtype, min), make_const_int(dtype, max - min)};
}

IndexRange scale(const IndexRange& range, int64_t factor) {
  if (factor >= 0) return {range.min * factor, range.width * factor};
  return {range.max() * factor, range.width * -factor};
}

MaybeRange product(const IndexRange& a, const IndexRange& b) {
  int64_t factor;
  if (b.is_point() && as_const_int(b.min, &factor)) return scale(a, factor);
  if (a.is_point() && as_const_int(a.min, &factor)) return scale(b, factor);
  if (a.is_point() && b.is_point()) return point(a.min * b.min);
  return std::nullopt;  // i * n: the sign of n is unknown here
}

MaybeRange divided(const IndexRange& a, int64_t divisor) {
  if (divisor <= 0) return std::nullopt;
  const PrimExpr min = floordiv(a.min, divisor);
  int64_t first, width;
  if (as_const_int(a.min, &first) && as_const_int(a.width, &width))
    return constant_range(min->dtype, floordiv_int(first, divisor), floordiv_int(first + width, divisor));
  if (is_multiple_of(a.min, divisor)) return IndexRange{min, floordiv(a.width, divisor)};
  return IndexRange{min, floordiv(a.width + (divisor - 1), divisor)};
}

MaybeRange remainder(const IndexRange& a, int64_t divisor) {
  if (divisor <= 0) return std::nullopt;
  int64_t first, width;
  if (as_const_int(a.width, &width) && width < divisor) {
    if (as_const_int(a.min, &first) && floormod_int(first, divisor) + width < divisor)
      return constant_range(a.min->dtype, floormod_int(first, divisor), floormod_int(first, divisor) + width);
    if (is_multiple_of(a.min, divisor)) return IndexRange{make_const_int(a.min->dtype, 0), a.width};
  }
  return constant_range(a.min->dtype, 0, divisor - 1);
}

MaybeRange smaller_or_larger(Kind kind, const IndexRange& a, const IndexRange& b) {
  const PrimExpr min = binary(kind, a.min, b.min), max = binary(kind, a.max(), b.max());
  return IndexRange{min, max - min};
}

bool is_known_nonnegative(const IndexRange& range) {
  int64_t first;
  return as_const_int(range.min, &first) && first >= 0;
}

MaybeRange binary_range(const BinaryOpNode* op, const IndexScope& scope) {
  const MaybeRange a = index_range(op->a, scope), b = index_range(op->b, scope);
  int64_t divisor;
  const bool by_constant = b && b->is_point() && as_const_int(b->min, &divisor);
  if (by_constant && divisor > 0 && a && a->is_point() &&
      (op->kind == Kind::kFloorMod || op->kind == Kind::kFloorDiv))
    return point(binary(op->kind, a->min, b->min));
  switch (op->kind) {
    case Kind::kFloorMod:
      if (by_constant && divisor > 0)
        return a ? remainder(*a, divisor) : constant_range(op->dtype, 0, divisor - 1);
      return std::nullopt;
    case Kind::kFloorDiv: return a && by_constant ? divided(*a, divisor) : std::nullopt;
    case Kind::kDiv:
      return a && by_constant && is_known_nonnegative(*a) ? divided(*a, divisor) : std::nullopt;
    case Kind::kMod:
      return a && by_constant && is_known_nonnegative(*a) ? remainder(*a, divisor) : std::nullopt;
    default: break;
  }
  if (!a || !b) return std::nullopt;
  switch (op->kind) {
    case Kind::kAdd: return IndexRange{a->min + b->min, a->width + b->width};
    case Kind::kSub: return IndexRange{a->min - b->max(), a->width + b->width};
    case Kind::kMul: return product(*a, *b);
    case Kind::kMin:
    case Kind::kMax: return smaller_or_larger(op->kind, *a, *b);
    default: return std::nullopt;
  }
}

MaybeRange hull_of_values(const PrimExpr& x, const PrimExpr& y, const IndexScope& scope) {
  const MaybeRange a = index_range(x, scope), b = index_range(y, scope);
  if (!a || !b) return std::nullopt;
  return hull(*a, *b);
}

MaybeRange call_range(const tir::CallNode* call, const IndexScope& scope) {
  const auto* op = call->op.as<OpNode>();
  if (!op) return std::nullopt;
  if (op->name == "tir.if_then_else") return hull_of_values(call->args[1], call->args[2], scope);
  if (op->name == "tir.likely") return index_range(call->args[0], scope);
  const bool is_shift = op->name == "tir.shift_left" || op->name == "tir.shift_right";
  int64_t amount;
  if (is_shift && as_const_int(call->args[1], &amount) && amount >= 0 && amount < 62) {
    const MaybeRange a = index_range(call->args[0], scope);
    if (!a) return std::nullopt;
    return op->name == "tir.shift_left" ? scale(*a, int64_t{1} << amount) : divided(*a, int64_t{1} << amount);
  }
  // x & mask lies in [0, mask]
  if (op->name == "tir.bitwise_and" && as_const_int(call->args[1], &amount) && amount >= 0)
    return constant_range(call->dtype, 0, amount);
  return std::nullopt;
}

MaybeRange ramp_range(const RampNode* ramp, const IndexScope& scope) {
  const MaybeRange base = index_range(ramp->base, scope), stride = index_range(ramp->stride, scope);
  int64_t step;
  if (!base || !stride || !stride->is_point() || !as_const_int(stride->min, &step) ||
      ramp->dtype.is_scalable())
    return std::nullopt;
  const int64_t reach = step * (ramp->lanes - 1);
  const PrimExpr low = base->min + std::min<int64_t>(reach, 0);
  return IndexRange{low, base->width + (reach < 0 ? -reach : reach)};
}

MaybeRange load_range(const BufferLoadNode* load, const IndexScope& scope) {
  if (scope.unstable.contains(load->buffer.get())) return std::nullopt;
  std::vector<PrimExpr> indices;
  for (const PrimExpr& index : load->indices) {
    const MaybeRange range = index_range(index, scope);
    if (!range || !range->is_point()) return std::nullopt;
    indices.push_back(range->min);
  }
  return point(tir::load(load->buffer, std::move(indices)));
}

MaybeRange cast_range(const CastNode* cast, const IndexScope& scope) {
  const DataType from = cast->value->dtype.element(), to = cast->dtype.element();
  if (!from.is_int() || !to.is_int() || to.bits < from.bits) return std::nullopt;
  const MaybeRange value = index_range(cast->value, scope);
  if (!value) return std::nullopt;
  return IndexRange{tir::cast(to, value->min), tir::cast(to, value->width)};
}

}  // namespace

bool IndexRange::is_point() const { return is_zero(width); }
PrimExpr IndexRange::max() const { return min + width; }

void IndexScope::add_loop(const VarNode* var, const PrimExpr& min, const PrimExpr& extent) {
  const MaybeRange first = index_range(min, *this), count = index_range(extent, *this);
  if (!first || !count) {
    domains[var] = std::nullopt;
    return;
  }
  domains[var] = IndexRange{first->min, first->width + (count->max() - 1)};
}

std::optional<IndexRange> index_range(const PrimExpr& expr, const IndexScope& scope) {
  if (expr.as<IntImmNode>() || is_fixed(expr, scope)) return point(expr);
  if (const auto* var = expr.as<tir::VarNode>()) return scope.domains.at(var);
  if (const auto* op = expr.as<BinaryOpNode>()) return binary_range(op, scope);
  if (const auto* call = expr.as<tir::CallNode>()) return call_range(call, scope);
  if (const auto* cast = expr.as<CastNode>()) return cast_range(cast, scope);
  if (const auto* ramp = expr.as<RampNode>()) return ramp_range(ramp, scope);
  if (const auto* vector = expr.as<BroadcastNode>()) return index_range(vector->value, scope);
  if (const auto* load = expr.as<BufferLoadNode>()) return load_range(load, scope);
  if (const auto* choice = expr.as<SelectNode>())
    return hull_of_values(choice->true_value, choice->false_value, scope);
  return std::nullopt;
}

std::optional<int64_t> const_difference(const PrimExpr& a, const PrimExpr& b) {
  Sum sum;
  sum.add(b, 1);
  sum.add(a, -1);
  for (const auto& [term, count] : sum.terms) {
    if (count != 0) return std::nullopt;
  }
  return sum.constant;
}

IndexRange hull(const IndexRange& a, const IndexRange& b) {
  const std::optional<int64_t> from_a_to_b = const_difference(a.min, b.min);
  if (from_a_to_b && *from_a_to_b < 0) return hull(b, a);
  if (from_a_to_b) {
    const PrimExpr reach = b.width + *from_a_to_b;
    const std::optional<int64_t> longer = const_difference(a.width, reach);
    if (longer) return {a.min, *longer > 0 ? reach : a.width};
    return {a.min, tir::max(a.width, reach)};
  }
  const PrimExpr min = tir::min(a.min, b.min);
  return {min, tir::max(a.max(), b.max()) - min};
}

}  // namespace tilewright::analysis
