#include "show.h"

#include <fmt/format.h>

namespace tilewright::arith_test {
using namespace tir;
namespace {

struct Infix {
  const char* sign;
  int rank;  // binds tighter when larger
};

Infix infix_of(Kind kind) {
  switch (kind) {
    case Kind::kOr: return {"or", 1};
    case Kind::kAnd: return {"and", 2};
    case Kind::kEQ: return {"==", 4};
    case Kind::kNE: return {"!=", 4};
    case Kind::kLT: return {"<", 4};
    case Kind::kLE: return {"<=", 4};
    case Kind::kGT: return {">", 4};
    case Kind::kGE: return {">=", 4};
    case Kind::kAdd: return {"+", 5};
    case Kind::kSub: return {"-", 5};
    case Kind::kMul: return {"*", 6};
    case Kind::kFloorDiv: return {"//", 6};
    case Kind::kFloorMod: return {"%", 6};
    default: return {"", 0};
  }
}

std::string list(const std::vector<PrimExpr>& items) {
  std::string text;
  for (const PrimExpr& item : items) text += (text.empty() ? "" : ", ") + show(item);
  return text;
}

std::string show_within(const PrimExpr& expr, int rank) {
  const Infix infix = infix_of(expr->kind);
  if (infix.rank == 0) return show(expr);
  const auto* node = expr.as<BinaryOpNode>();
  const std::string text = fmt::format("{} {} {}", show_within(node->a, infix.rank), infix.sign,
                                       show_within(node->b, infix.rank + 1));
  return infix.rank < rank ? "(" + text + ")" : text;
}

}  // namespace

std::string show(const PrimExpr& expr) {
  if (infix_of(expr->kind).rank) return show_within(expr, 0);
  switch (expr->kind) {
    case Kind::kIntImm: {
      const auto* node = expr.as<IntImmNode>();
      return node->dtype.is_bool() ? (node->value ? "True" : "False") : std::to_string(node->value);
    }
    case Kind::kFloatImm: return fmt::format("{}f", expr.as<FloatImmNode>()->value);
    case Kind::kVar: return expr.as<VarNode>()->name_hint;
    case Kind::kNot: return "not " + show_within(expr.as<NotNode>()->a, 3);
    case Kind::kSelect: {
      const auto* node = expr.as<SelectNode>();
      return fmt::format("select({}, {}, {})", show(node->condition), show(node->true_value),
                         show(node->false_value));
    }
    case Kind::kCast: return fmt::format("{}({})", expr->dtype.str(), show(expr.as<CastNode>()->value));
    case Kind::kBufferLoad:
      return fmt::format("{}[{}]", expr.as<BufferLoadNode>()->buffer->name,
                         list(expr.as<BufferLoadNode>()->indices));
    case Kind::kCall: {
      const auto* node = expr.as<CallNode>();
      return fmt::format("{}({})", node->op.as<OpNode>()->name.substr(4), list(node->args));
    }
    case Kind::kRamp: {
      const auto* node = expr.as<RampNode>();
      return fmt::format("ramp({}, {}, {})", show(node->base), show(node->stride), node->lanes);
    }
    case Kind::kBroadcast:
      return fmt::format("broadcast({}, {})", show(expr.as<BroadcastNode>()->value),
                         expr.as<BroadcastNode>()->lanes);
    case Kind::kLet: {
      const auto* node = expr.as<LetNode>();
      return fmt::format("(let {} = {} in {})", node->var->name_hint, show(node->value), show(node->body));
    }
    case Kind::kMin:
    case Kind::kMax:
    case Kind::kDiv:
    case Kind::kMod: {
      const auto* node = expr.as<BinaryOpNode>();
      const char* name = expr->kind == Kind::kMin   ? "min"
                         : expr->kind == Kind::kMax ? "max"
                         : expr->kind == Kind::kDiv ? "truncdiv"
                                                    : "truncmod";
      return fmt::format("{}({}, {})", name, show(node->a), show(node->b));
    }
    default: return "?";
  }
}

}  // namespace tilewright::arith_test
