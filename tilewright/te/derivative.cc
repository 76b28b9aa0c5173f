#include "tilewright/te/derivative.h"

#include <cmath>
#include <numbers>
#include <string>

#include "tilewright/ir/services.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/text.h"

namespace tilewright::te {
namespace {

PrimExpr number(const PrimExpr& like, double value) { return make_const(like->dtype, value); }
PrimExpr math(std::string_view name, const PrimExpr& x) {
  return call(x->dtype, "tir." + std::string(name), {x});
}

bool is_number(const PrimExpr& value, double number) {
  const auto* constant = value.as<FloatImmNode>();
  return constant && constant->value == number;
}

// Sums and products in which null is 0.
PrimExpr plus(const PrimExpr& a, const PrimExpr& b) { return !a ? b : !b ? a : a + b; }
PrimExpr minus(const PrimExpr& a, const PrimExpr& b) { return !b ? a : a ? a - b : PrimExpr(-b); }
PrimExpr times(const PrimExpr& a, const PrimExpr& b) {
  if (!a || !b) return nullptr;
  return is_number(a, 1) ? b : is_number(b, 1) ? a : a * b;
}
PrimExpr zero_if_null(const PrimExpr& a, const PrimExpr& like) { return a ? a : number(like, 0); }

class Differentiation {
 public:
  explicit Differentiation(const ProducerLoadNode* element) : element_(element) {}

  PrimExpr run(const PrimExpr& value) const {
    if (!value->dtype.is_float()) return nullptr;
    if (const auto* read = value.as<ProducerLoadNode>())
      return read == element_ || ir::structural_equal(value, PrimExpr(element_)) ? number(value, 1) : nullptr;
    if (const auto* op = value.as<BinaryOpNode>()) return of_binary(value, op);
    if (const auto* op = value.as<SelectNode>())
      return choice(op->condition, run(op->true_value), run(op->false_value), value, false);
    if (const auto* op = value.as<CastNode>()) {
      const PrimExpr inner = run(op->value);
      return inner ? cast(value->dtype, inner) : nullptr;
    }
    if (const auto* op = value.as<LetNode>()) return run(substitute(op->body, {{op->var.get(), op->value}}));
    if (const auto* op = value.as<CallNode>()) return of_call(value, op);
    if (is<FloatImmNode>(value) || is<VarNode>(value)) return nullptr;
    throw unsupported(value);
  }

 private:
  static PrimExpr choice(const PrimExpr& condition, const PrimExpr& a, const PrimExpr& b,
                         const PrimExpr& like, bool is_guard) {
    if (!a && !b) return nullptr;
    const PrimExpr x = zero_if_null(a, like), y = zero_if_null(b, like);
    return is_guard ? call(like->dtype, "tir.if_then_else", {condition, x, y}) : select(condition, x, y);
  }

  Unsupported unsupported(const PrimExpr& value) const {
    return Unsupported("te.gradient: {} has no derivative", expr_text(value));
  }

  PrimExpr of_binary(const PrimExpr& value, const BinaryOpNode* op) const {
    const PrimExpr a = run(op->a), b = run(op->b);
    if (!a && !b) return nullptr;
    switch (op->kind) {
      case Kind::kAdd: return plus(a, b);
      case Kind::kSub: return minus(a, b);
      case Kind::kMul: return plus(times(a, op->b), times(op->a, b));
      case Kind::kDiv: {
        const PrimExpr left = a ? div(a, op->b) : nullptr;
        return b ? minus(left, times(b, div(op->a, op->b * op->b))) : left;
      }
      case Kind::kMax: return choice(op->a >= op->b, a, b, value, false);
      case Kind::kMin: return choice(op->a <= op->b, a, b, value, false);
      default: throw unsupported(value);
    }
  }

  PrimExpr of_call(const PrimExpr& value, const CallNode* op) const {
    const auto* node = op->op.as<OpNode>();
    const std::string name = node ? node->name : "";
    if (name == "tir.if_then_else") return choice(op->args[0], run(op->args[1]), run(op->args[2]), value, true);
    std::vector<PrimExpr> inner;
    bool is_constant = true;
    for (const PrimExpr& arg : op->args) {
      inner.push_back(run(arg));
      is_constant &= !inner.back();
    }
    if (is_constant) return nullptr;
    if (name == "tir.pow") return of_power(value, op, inner);
    for (const char* flat : {"tir.floor", "tir.ceil", "tir.trunc", "tir.round", "tir.nearbyint"})
      if (name == flat) return nullptr;
    return times(inner[0], outer(value, name, op->args[0]));
  }

  // x ** y: y * x ** (y - 1), and x ** y * log(x)
  static PrimExpr of_power(const PrimExpr& value, const CallNode* op, const std::vector<PrimExpr>& inner) {
    const PrimExpr &x = op->args[0], &y = op->args[1];
    const PrimExpr by_x = call(x->dtype, "tir.pow", {x, y - number(y, 1)}) * y;
    return plus(times(inner[0], by_x), inner[1] ? times(inner[1], value * math("log", x)) : nullptr);
  }

  // The derivative of the function `name` at x, where it is `y`.
  PrimExpr outer(const PrimExpr& y, const std::string& name, const PrimExpr& x) const {
    const PrimExpr one = number(x, 1);
    if (name == "tir.exp") return y;
    if (name == "tir.exp2") return y * number(x, std::numbers::ln2);
    if (name == "tir.exp10") return y * number(x, std::numbers::ln10);
    if (name == "tir.log") return div(one, x);
    if (name == "tir.log2") return div(number(x, 1 / std::numbers::ln2), x);
    if (name == "tir.log10") return div(number(x, 1 / std::numbers::ln10), x);
    if (name == "tir.log1p") return div(one, one + x);
    if (name == "tir.sqrt") return div(number(x, 0.5), y);
    if (name == "tir.rsqrt") return div(y, x) * number(x, -0.5);
    if (name == "tir.sin") return math("cos", x);
    if (name == "tir.cos") return -math("sin", x);
    if (name == "tir.tan") return one + y * y;
    if (name == "tir.asin") return math("rsqrt", one - x * x);
    if (name == "tir.acos") return -math("rsqrt", one - x * x);
    if (name == "tir.atan") return div(one, one + x * x);
    if (name == "tir.sinh") return math("cosh", x);
    if (name == "tir.cosh") return math("sinh", x);
    if (name == "tir.tanh") return one - y * y;
    if (name == "tir.asinh") return math("rsqrt", x * x + one);
    if (name == "tir.acosh") return math("rsqrt", x * x - one);
    if (name == "tir.atanh") return div(one, one - x * x);
    if (name == "tir.sigmoid") return y * (one - y);
    if (name == "tir.erf") return math("exp", -(x * x)) * number(x, 2 * std::numbers::inv_sqrtpi);
    if (name == "tir.fabs" || name == "tir.abs")
      return select(x > number(x, 0), one, select(x < number(x, 0), number(x, -1), number(x, 0)));
    throw unsupported(y);
  }

  const ProducerLoadNode* element_;
};

}  // namespace

PrimExpr derivative(const PrimExpr& value, const ProducerLoadNode* element) {
  return Differentiation(element).run(value);
}

}  // namespace tilewright::te
