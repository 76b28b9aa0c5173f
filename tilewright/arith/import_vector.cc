// Vectors: arithmetic on ramps and broadcasts is done on their scalars.
#include "tilewright/arith/state.h"
#include "tilewright/tir/arithmetic.h"

namespace tilewright::arith {
namespace {

// base, base + stride, ...; a broadcast has no stride
struct Lanes {
  Id base = kNone, stride = kNone;
  bool is_broadcast() const { return base != kNone && stride == kNone; }
  bool is_ramp() const { return stride != kNone; }
};

Lanes lanes_of(const TermTable& terms, Id id) {
  const Term& term = terms[id];
  if (term.op != Op::kOther) return {};
  if (term.kind == Kind::kBroadcast && terms[terms.arg(id, 0)].dtype.is_scalar())
    return {terms.arg(id, 0), kNone};
  if (term.kind == Kind::kRamp && terms[terms.arg(id, 0)].dtype.is_scalar())
    return {terms.arg(id, 0), terms.arg(id, 1)};
  return {};
}

}  // namespace

Id Analyzer::State::broadcast(Id value, int64_t lanes) {
  const Arg arg{value};
  const DataType element = terms[value].dtype;
  return other(Kind::kBroadcast, element.with_lanes(static_cast<int>(lanes) * element.lanes), {&arg, 1},
               nullptr, lanes);
}

Id Analyzer::State::ramp(Id base, Id stride, int64_t lanes) {
  if (terms[stride].op == Op::kConst && terms[stride].value == 0) return broadcast(base, lanes);
  const Arg args[] = {{base}, {stride}};
  const DataType element = terms[base].dtype;
  return other(Kind::kRamp, element.with_lanes(static_cast<int>(lanes) * element.lanes), args, nullptr,
               lanes);
}

Id Analyzer::State::import_vector(const PrimExpr& expr) {
  if (const auto* node = expr.as<BroadcastNode>()) return broadcast(import(node->value), node->lanes);
  if (const auto* node = expr.as<RampNode>()) {
    const Id base = import(node->base), stride = import(node->stride);
    return ramp(base, stride, node->lanes);
  }
  if (const auto* node = expr.as<BinaryOpNode>()) {
    const Id a = import(node->a), b = import(node->b);
    return vector_binary(expr->kind, expr->dtype, a, b);
  }
  if (const auto* node = expr.as<CastNode>()) {
    const Arg arg{import(node->value)};
    return other(Kind::kCast, expr->dtype, {&arg, 1});
  }
  if (const auto* node = expr.as<SelectNode>()) {
    const Id condition = import(node->condition), a = import(node->true_value), b = import(node->false_value);
    const Lanes chosen = lanes_of(terms, condition);
    const Term value = chosen.is_broadcast() ? terms[chosen.base] : Term{};
    if (chosen.is_broadcast() && value.op == Op::kConst) return value.value ? a : b;
    if (a == b) return a;
    const Arg args[] = {{condition}, {a}, {b}};
    return other(Kind::kSelect, expr->dtype, args);
  }
  if (const auto* node = expr.as<NotNode>()) {
    const Arg arg{import(node->a)};
    return other(Kind::kNot, expr->dtype, {&arg, 1});
  }
  if (const auto* node = expr.as<CallNode>()) return import_call(node);
  if (is<VarNode>(expr)) return variable(expr.as<VarNode>());
  if (const auto* node = expr.as<LetNode>()) return import_let(node);
  return import_other(expr);
}

Id Analyzer::State::vector_binary(Kind kind, DataType dtype, Id a, Id b) {
  const Lanes x = lanes_of(terms, a), y = lanes_of(terms, b);
  const int64_t lanes = x.base != kNone ? terms[a].value : 0;
  const Arg args[] = {{a}, {b}};
  const bool is_known =
      x.base != kNone && y.base != kNone && terms[b].value == lanes && is_index(terms[x.base].dtype);
  if (x.is_broadcast() && y.is_broadcast() && terms[b].value == lanes)
    return broadcast(scalar_binary(kind, x.base, y.base), lanes);
  if (!is_known) return other(kind, dtype, args);
  const DataType element = terms[x.base].dtype;
  const Id zero = terms.constant(0, element);
  const Linear base_a = terms.linear(x.base), base_b = terms.linear(y.base);
  const Linear stride_a = terms.linear(x.is_ramp() ? x.stride : zero),
               stride_b = terms.linear(y.is_ramp() ? y.stride : zero);
  switch (kind) {
    case Kind::kAdd: return ramp(sum(base_a + base_b, element), sum(stride_a + stride_b, element), lanes);
    case Kind::kSub: return ramp(sum(base_a - base_b, element), sum(stride_a - stride_b, element), lanes);
    case Kind::kMul:
      if (x.is_broadcast()) return ramp(product(x.base, y.base), product(x.base, y.stride), lanes);
      if (y.is_broadcast()) return ramp(product(x.base, y.base), product(x.stride, y.base), lanes);
      break;
    case Kind::kFloorDiv:
    case Kind::kFloorMod: {
      const Term divisor = y.is_broadcast() ? terms[y.base] : Term{};
      const Term step = x.is_ramp() ? terms[x.stride] : Term{};
      if (!y.is_broadcast() || divisor.op != Op::kConst || divisor.value <= 0 || step.op != Op::kConst) break;
      const Id quotient = floor_div(x.base, y.base), remainder = floor_mod(x.base, y.base);
      const bool is_div = kind == Kind::kFloorDiv;
      if (step.value % divisor.value == 0)  // every lane moves by a whole quotient
        return is_div ? ramp(quotient, constant(step.value / divisor.value, element), lanes)
                      : broadcast(remainder, lanes);
      // no lane reaches the next quotient; the remainder of the base is a multiple of `unit` plus a constant
      const ConstBounds around = bounds(remainder);
      const ModularSet multiple = modular(remainder);
      const int64_t room = divisor.value - 1 - step.value * (lanes - 1);
      const int64_t last =
          multiple.coeff > 1
              ? divisor.value - 1 - floormod_int(divisor.value - 1 - multiple.base, multiple.coeff)
              : divisor.value - 1;
      if (step.value < 0 || (around.max > room && last > room)) break;
      return is_div ? broadcast(quotient, lanes) : ramp(remainder, x.stride, lanes);
    }
    case Kind::kLT:
    case Kind::kLE:
    case Kind::kGT:
    case Kind::kGE: {
      // linear in the lane index: true for all lanes if true for the first and the last
      const bool is_less = kind == Kind::kLT || kind == Kind::kLE;
      const int64_t slack = kind == Kind::kLT || kind == Kind::kGT ? -1 : 0;
      const Linear first = is_less ? base_b - base_a : base_a - base_b;
      const Linear last = add_scaled(first, is_less ? stride_b - stride_a : stride_a - stride_b, lanes - 1);
      if (proves_ge0(shifted(first, slack)) && proves_ge0(shifted(last, slack)))
        return broadcast(truth_value(true), lanes);
      const Linear not_first = shifted(scaled(first, -1), -1 - slack),
                   not_last = shifted(scaled(last, -1), -1 - slack);
      if (proves_ge0(not_first) && proves_ge0(not_last)) return broadcast(truth_value(false), lanes);
      break;
    }
    default: break;
  }
  return other(kind, dtype, args);
}

// Imports a two-operand node of any kind on scalars that are terms already.
Id Analyzer::State::scalar_binary(Kind kind, Id a, Id b) {
  const DataType operand = terms[a].dtype;
  const bool is_comparison = kind > Kind::kCompareOpBegin && kind < Kind::kCompareOpEnd;
  if (kind == Kind::kAnd) return logical_and(a, b);
  if (kind == Kind::kOr) return logical_or(a, b);
  if (!is_comparison) return import_binary(kind, operand, a, b);
  if (!is_index(operand)) return import_binary(kind, kBoolType, a, b);
  return compare(kind, terms.linear(a), terms.linear(b), operand);
}

}  // namespace tilewright::arith
