// The folding operators of builder.h.
#include "tilewright/tir/arithmetic.h"

#include <cmath>

#include "tilewright/support/small_float.h"
#include "tilewright/tir/builder.h"

namespace tilewright::tir {

int64_t wrap_int(int64_t value, DataType dtype) {
  if (dtype.is_bool()) return value != 0;
  if (dtype.bits >= 64) return value;
  const uint64_t mask = (uint64_t{1} << dtype.bits) - 1;
  uint64_t low = static_cast<uint64_t>(value) & mask;
  if (dtype.is_int() && (low >> (dtype.bits - 1))) low |= ~mask;
  return static_cast<int64_t>(low);
}

double floormod_float(double a, double b) {
  const double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

bool overflows(double value, DataType dtype) {
  if (!std::isfinite(value) || dtype.bits >= 64) return false;
  const double rounded =
      dtype == kFloat32 ? static_cast<double>(static_cast<float>(value)) : round_to_format(value, dtype);
  return !std::isfinite(rounded);
}

namespace {

bool is_comparison(Kind kind) { return kind > Kind::kCompareOpBegin && kind < Kind::kCompareOpEnd; }

template <class T>
std::optional<bool> compare(Kind kind, T a, T b) {
  switch (kind) {
    case Kind::kEQ: return a == b;
    case Kind::kNE: return a != b;
    case Kind::kLT: return a < b;
    case Kind::kLE: return a <= b;
    case Kind::kGT: return a > b;
    case Kind::kGE: return a >= b;
    default: return std::nullopt;
  }
}

// Arithmetic in 128 bits never overflows; a result outside 64 bits is not folded.
std::optional<int64_t> arithmetic(Kind kind, int64_t a, int64_t b) {
  __extension__ using Wide = __int128;
  Wide result;
  switch (kind) {
    case Kind::kAdd: result = Wide(a) + b; break;
    case Kind::kSub: result = Wide(a) - b; break;
    case Kind::kMul: result = Wide(a) * b; break;
    case Kind::kMin: result = a < b ? a : b; break;
    case Kind::kMax: result = a > b ? a : b; break;
    case Kind::kAnd: result = a && b; break;
    case Kind::kOr: result = a || b; break;
    default:
      if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
      switch (kind) {
        case Kind::kDiv: result = a / b; break;
        case Kind::kMod: result = a % b; break;
        case Kind::kFloorDiv: result = floordiv_int(a, b); break;
        case Kind::kFloorMod: result = floormod_int(a, b); break;
        default: return std::nullopt;
      }
  }
  if (result > INT64_MAX || result < INT64_MIN) return std::nullopt;
  return static_cast<int64_t>(result);
}

// A ramp of literals of at most 32 bits in int64; null for other values and for one that wraps.
PrimExpr wide_ramp(DataType dtype, const PrimExpr& value) {
  const auto* ramp = value.as<RampNode>();
  const auto* base = ramp ? ramp->base.as<IntImmNode>() : nullptr;
  const auto* stride = ramp ? ramp->stride.as<IntImmNode>() : nullptr;
  if (!base || !stride || dtype.element() != kInt64 || dtype.lanes != value->dtype.lanes ||
      base->dtype.bits > 32)
    return nullptr;
  const int64_t last = base->value + stride->value * (dtype.lanes - 1);
  if (wrap_int(last, base->dtype) != last) return nullptr;
  return RampNode::make(imm(base->value, kInt64), imm(stride->value, kInt64), ramp->lanes);
}

}  // namespace

std::optional<int64_t> fold_int(Kind kind, int64_t a, int64_t b, DataType dtype) {
  // 64-bit unsigned values are kept as their bits; only their order and their
  // quotients differ from signed ones
  if (dtype.is_uint() && dtype.bits == 64 && (a < 0 || b < 0)) return std::nullopt;
  if (auto order = compare(kind, a, b)) return *order;
  auto result = arithmetic(kind, a, b);
  if (!result) return std::nullopt;
  const int64_t wrapped = wrap_int(*result, dtype);
  if (dtype.is_int() && wrapped != *result) return std::nullopt;  // the user must see signed overflow
  return wrapped;
}

std::optional<double> fold_float(Kind kind, double a, double b, DataType dtype) {
  if (auto order = compare(kind, a, b)) return *order;
  double result;
  switch (kind) {
    case Kind::kAdd: result = a + b; break;
    case Kind::kSub: result = a - b; break;
    case Kind::kMul: result = a * b; break;
    case Kind::kDiv: result = a / b; break;
    case Kind::kMin: result = std::isnan(a) || std::isnan(b) ? NAN : std::fmin(a, b); break;
    case Kind::kMax: result = std::isnan(a) || std::isnan(b) ? NAN : std::fmax(a, b); break;
    default: return std::nullopt;
  }
  // Rounding twice is exact for one operation on float32 operands (Figueroa 1995); narrower types are not
  // rounded here.
  if (dtype == kFloat32) return static_cast<double>(static_cast<float>(result));
  if (dtype == DataType::float_(64)) return result;
  return std::nullopt;
}

void match_dtypes(PrimExpr* a, PrimExpr* b, const Span& where) {
  if ((*a)->dtype.lanes != (*b)->dtype.lanes) {
    if ((*a)->dtype.is_scalar())
      *a = BroadcastNode::make(*a, static_cast<int64_t>((*b)->dtype.lanes));
    else if ((*b)->dtype.is_scalar())
      *b = BroadcastNode::make(*b, static_cast<int64_t>((*a)->dtype.lanes));
    else
      throw UserError(where, "operands have {} and {} lanes", (*a)->dtype.lanes, (*b)->dtype.lanes);
  }
  const DataType x = (*a)->dtype, y = (*b)->dtype;
  if (x == y) return;
  auto rank = [](DataType t) { return t.is_float() ? 3 : t.is_integral() ? 2 : t.is_bool() ? 1 : 0; };
  if (rank(x) == 0 || rank(y) == 0)
    throw UserError(where, "operands of dtype {} and {} have no common type", x.str(), y.str());
  int64_t literal;
  const bool a_is_literal = as_const_int(*a, &literal), b_is_literal = as_const_int(*b, &literal);
  const bool a_is_any = a_is_literal || is<FloatImmNode>(*a), b_is_any = b_is_literal || is<FloatImmNode>(*b);
  bool take_left;
  if (rank(x) != rank(y))
    take_left = rank(x) > rank(y);
  else if (a_is_any != b_is_any)
    take_left = b_is_any;
  else if (x.bits != y.bits)
    take_left = x.bits > y.bits;
  else
    take_left = x.is_int();  // of equal width: signed, as comparisons of extents need
  if (take_left)
    *b = cast(x, *b);
  else
    *a = cast(y, *a);
}

PrimExpr binary(Kind kind, PrimExpr a, PrimExpr b, Span span) {
  match_dtypes(&a, &b, span);
  const auto *x = a.as<IntImmNode>(), *y = b.as<IntImmNode>();
  if (x && y) {
    auto value = fold_int(kind, x->value, y->value, x->dtype);
    const bool is_bool = is_comparison(kind) || kind == Kind::kAnd || kind == Kind::kOr;
    if (value) return is_bool ? PrimExpr(bool_imm(*value)) : imm(*value, x->dtype);
  }
  const auto *u = a.as<FloatImmNode>(), *v = b.as<FloatImmNode>();
  if (u && v) {
    auto value = fold_float(kind, u->value, v->value, u->dtype);
    if (value)
      return is_comparison(kind) ? PrimExpr(bool_imm(*value != 0)) : PrimExpr(float_imm(*value, u->dtype));
  }
  const bool integral = a->dtype.is_integral();
  if (integral && kind == Kind::kAdd && is_zero(a)) return b;
  if (integral && (kind == Kind::kAdd || kind == Kind::kSub) && is_zero(b)) return a;
  if (kind == Kind::kMul && integral && is_one(a)) return b;
  if ((kind == Kind::kMul || kind == Kind::kFloorDiv || kind == Kind::kDiv) && integral && is_one(b))
    return a;
  if (kind == Kind::kMul && integral && (is_zero(a) || is_zero(b))) return make_const_int(a->dtype, 0);
  if (kind == Kind::kFloorMod && integral && is_one(b)) return make_const_int(a->dtype, 0);
  if (kind == Kind::kAnd && x) return x->value ? b : a;
  if (kind == Kind::kAnd && y) return y->value ? a : b;
  if (kind == Kind::kOr && x) return x->value ? a : b;
  if (kind == Kind::kOr && y) return y->value ? b : a;
  return make_binary(kind, std::move(a), std::move(b), std::move(span));
}

PrimExpr operator+(PrimExpr a, PrimExpr b) { return binary(Kind::kAdd, std::move(a), std::move(b)); }
PrimExpr operator-(PrimExpr a, PrimExpr b) { return binary(Kind::kSub, std::move(a), std::move(b)); }
PrimExpr operator*(PrimExpr a, PrimExpr b) { return binary(Kind::kMul, std::move(a), std::move(b)); }
PrimExpr operator-(PrimExpr a) {
  PrimExpr zero = make_const_int(a->dtype, 0);
  if (const auto* literal = a.as<FloatImmNode>()) return float_imm(-literal->value, literal->dtype);
  return binary(Kind::kSub, zero, std::move(a));
}
PrimExpr operator+(PrimExpr a, int64_t b) { return a + make_const_int(a->dtype, b); }
PrimExpr operator-(PrimExpr a, int64_t b) { return a - make_const_int(a->dtype, b); }
PrimExpr operator*(PrimExpr a, int64_t b) { return a * make_const_int(a->dtype, b); }
PrimExpr div(PrimExpr a, PrimExpr b) { return binary(Kind::kDiv, std::move(a), std::move(b)); }
PrimExpr floordiv(PrimExpr a, PrimExpr b) { return binary(Kind::kFloorDiv, std::move(a), std::move(b)); }
PrimExpr floormod(PrimExpr a, PrimExpr b) { return binary(Kind::kFloorMod, std::move(a), std::move(b)); }
PrimExpr floordiv(PrimExpr a, int64_t b) { return floordiv(a, make_const_int(a->dtype, b)); }
PrimExpr floormod(PrimExpr a, int64_t b) { return floormod(a, make_const_int(a->dtype, b)); }
PrimExpr ceildiv(PrimExpr a, PrimExpr b) { return floordiv(a + (b - 1), b); }
PrimExpr min(PrimExpr a, PrimExpr b) { return binary(Kind::kMin, std::move(a), std::move(b)); }
PrimExpr max(PrimExpr a, PrimExpr b) { return binary(Kind::kMax, std::move(a), std::move(b)); }
PrimExpr operator<(PrimExpr a, PrimExpr b) { return binary(Kind::kLT, std::move(a), std::move(b)); }
PrimExpr operator<=(PrimExpr a, PrimExpr b) { return binary(Kind::kLE, std::move(a), std::move(b)); }
PrimExpr operator>(PrimExpr a, PrimExpr b) { return binary(Kind::kGT, std::move(a), std::move(b)); }
PrimExpr operator>=(PrimExpr a, PrimExpr b) { return binary(Kind::kGE, std::move(a), std::move(b)); }
PrimExpr operator<(PrimExpr a, int64_t b) { return a < make_const_int(a->dtype, b); }
PrimExpr operator<=(PrimExpr a, int64_t b) { return a <= make_const_int(a->dtype, b); }
PrimExpr operator>(PrimExpr a, int64_t b) { return a > make_const_int(a->dtype, b); }
PrimExpr operator>=(PrimExpr a, int64_t b) { return a >= make_const_int(a->dtype, b); }
PrimExpr equal(PrimExpr a, PrimExpr b) { return binary(Kind::kEQ, std::move(a), std::move(b)); }
PrimExpr not_equal(PrimExpr a, PrimExpr b) { return binary(Kind::kNE, std::move(a), std::move(b)); }
PrimExpr logical_and(PrimExpr a, PrimExpr b) { return binary(Kind::kAnd, std::move(a), std::move(b)); }
PrimExpr logical_or(PrimExpr a, PrimExpr b) { return binary(Kind::kOr, std::move(a), std::move(b)); }

PrimExpr logical_not(PrimExpr a) {
  if (const auto* literal = a.as<IntImmNode>()) return bool_imm(literal->value == 0);
  return NotNode::make(std::move(a));
}

PrimExpr select(PrimExpr condition, PrimExpr true_value, PrimExpr false_value) {
  match_dtypes(&true_value, &false_value);
  if (const auto* literal = condition.as<IntImmNode>()) return literal->value ? true_value : false_value;
  return SelectNode::make(std::move(condition), std::move(true_value), std::move(false_value));
}

PrimExpr cast(DataType dtype, PrimExpr value) {
  if (value->dtype == dtype) return value;
  if (const auto* literal = value.as<IntImmNode>()) {
    if (dtype.is_float() && dtype.is_scalar()) return float_imm(static_cast<double>(literal->value), dtype);
    if (dtype.is_integral() && dtype.is_scalar()) return imm(wrap_int(literal->value, dtype), dtype);
    if (dtype.is_bool() && dtype.is_scalar()) return bool_imm(literal->value != 0);
  }
  const auto* real = value.as<FloatImmNode>();
  if (real && dtype.is_float() && dtype.is_scalar() && dtype.bits >= 32)
    return float_imm(round_to_format(real->value, real->dtype), dtype);
  if (const auto* vector = value.as<BroadcastNode>(); vector && vector->lanes == dtype.lanes)
    return BroadcastNode::make(cast(dtype.element(), vector->value), vector->lanes);
  if (const PrimExpr ramp = wide_ramp(dtype, value)) return ramp;
  // Literals are converted so that T.Select(n > 3, 64, 32) - n means the same in an extent, where literals
  // are int64.
  const auto* choice = value.as<SelectNode>();
  if (choice && dtype.is_integral() && dtype.is_scalar() && is<IntImmNode>(choice->true_value) &&
      is<IntImmNode>(choice->false_value))
    return SelectNode::make(choice->condition, cast(dtype, choice->true_value),
                            cast(dtype, choice->false_value));
  if (value->dtype.is_scalar() && !dtype.is_scalar())
    return BroadcastNode::make(cast(dtype.element(), value), static_cast<int64_t>(dtype.lanes));
  if (value->dtype.is_handle() || dtype.is_handle() || value->dtype.lanes != dtype.lanes)
    throw UserError(value, "a value of dtype {} cannot be cast to {}", value->dtype.str(), dtype.str());
  return CastNode::make(dtype, std::move(value));
}

PrimExpr product(std::span<const PrimExpr> factors) {
  if (factors.empty()) return imm(1);
  PrimExpr result = factors[0];
  for (const PrimExpr& factor : factors.subspan(1)) result = result * factor;
  return result;
}

}  // namespace tilewright::tir
