// Prints rules and evaluates patterns, for the tests of the tables.
#include <fmt/format.h>

#include "tilewright/arith/rule.h"
#include "tilewright/tir/arithmetic.h"

namespace tilewright::arith {
namespace {

using P = PatternNode;

std::string text(const Pattern& pattern, uint8_t place) {
  const PatternNode& node = pattern.nodes[place];
  auto operand = [&](uint8_t child) {
    const P::Op op = pattern.nodes[child].op;
    const bool is_atomic =
        op < P::kAdd || op == P::kMin || op == P::kMax || op == P::kSelect || op == P::kNot;
    return is_atomic ? text(pattern, child) : "(" + text(pattern, child) + ")";
  };
  auto infix = [&](std::string_view sign) {
    return fmt::format("{} {} {}", operand(node.a), sign, operand(node.b));
  };
  switch (node.op) {
    case P::kVar: return std::string(1, "xyzw"[node.value]);
    case P::kConst: return std::string(1, "cdef"[node.value]);
    case P::kCondition: return std::string(1, "pqrs"[node.value]);
    case P::kLiteral: return std::to_string(node.value);
    case P::kAdd: return infix("+");
    case P::kSub: return infix("-");
    case P::kMul: return infix("*");
    case P::kFloorDiv: return infix("//");
    case P::kFloorMod: return infix("%");
    case P::kMin: return fmt::format("min({}, {})", text(pattern, node.a), text(pattern, node.b));
    case P::kMax: return fmt::format("max({}, {})", text(pattern, node.a), text(pattern, node.b));
    case P::kLT: return infix("<");
    case P::kLE: return infix("<=");
    case P::kEQ: return infix("==");
    case P::kAnd: return infix("and");
    case P::kOr: return infix("or");
    case P::kNot: return "not " + operand(node.a);
    case P::kSelect:
      return fmt::format("select({}, {}, {})", text(pattern, node.a), text(pattern, node.b),
                         text(pattern, node.c));
  }
  return "";
}

Kind kind_of(P::Op op) {
  switch (op) {
    case P::kAdd: return Kind::kAdd;
    case P::kSub: return Kind::kSub;
    case P::kMul: return Kind::kMul;
    case P::kFloorDiv: return Kind::kFloorDiv;
    case P::kFloorMod: return Kind::kFloorMod;
    case P::kMin: return Kind::kMin;
    case P::kMax: return Kind::kMax;
    case P::kLT: return Kind::kLT;
    case P::kLE: return Kind::kLE;
    case P::kEQ: return Kind::kEQ;
    case P::kAnd: return Kind::kAnd;
    default: return Kind::kOr;
  }
}

std::optional<int64_t> value_of(const Pattern& pattern, uint8_t place, const PatternValues& values) {
  const PatternNode& node = pattern.nodes[place];
  const auto which = static_cast<size_t>(node.value);
  switch (node.op) {
    case P::kVar: return values.vars[which];
    case P::kConst: return values.consts[which];
    case P::kCondition: return values.conditions[which];
    case P::kLiteral: return node.value;
    default: break;
  }
  const auto a = value_of(pattern, node.a, values);
  if (!a) return std::nullopt;
  if (node.op == P::kNot) return !*a;
  // only the selected value must be defined, and the right side of `and` and `or` only if the left does not
  // decide
  if (node.op == P::kSelect) return value_of(pattern, *a ? node.b : node.c, values);
  if (node.op == P::kAnd && !*a) return 0;
  if (node.op == P::kOr && *a) return 1;
  const auto b = value_of(pattern, node.b, values);
  if (!b) return std::nullopt;
  return fold_int(kind_of(node.op), *a, *b, kInt64);
}

}  // namespace

std::string to_string(const Rule& rule) {
  std::string result =
      fmt::format("{} => {}", text(rule.left, rule.left.root()), text(rule.right, rule.right.root()));
  if (!rule.guard.empty()) result += "  when " + text(rule.guard, rule.guard.root());
  return result;
}

std::optional<int64_t> evaluate(const Pattern& pattern, const PatternValues& values) {
  return value_of(pattern, pattern.root(), values);
}

}  // namespace tilewright::arith
