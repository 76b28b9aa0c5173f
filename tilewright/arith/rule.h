// Rewrite rules as data:  rule(min(x, x + c), x, c >= 0).
// A pattern is a constant array of nodes, built by the operators below at compile time and interpreted by
// rule.cc.  So a table costs nothing to compile, and tests/fuzz can print every rule and check it by brute
// force.
//   x y z w   any integer
//   c d e     an integer constant
//   p q r     any condition
//   / and %   floor division and its remainder.  Division by zero is undefined: a rule may ignore it.
// A sum in a pattern is matched up to linear arithmetic: `x + c` matches n * 2 + 7 with x = n * 2, c = 7, and
// x - y matches any sum once x or y is known.  min, max, == and * match with their operands in either order,
// `and` and `or` only as written.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "tilewright/arith/term.h"

namespace tilewright::arith {

struct PatternNode {
  enum Op : uint8_t {
    kVar,
    kConst,
    kCondition,
    kLiteral,  // value: the number of the name, or the literal
    kAdd,
    kSub,
    kMul,
    kFloorDiv,
    kFloorMod,
    kMin,
    kMax,
    kLT,
    kLE,
    kEQ,
    kAnd,
    kOr,
    kNot,
    kSelect
  };
  Op op;
  uint8_t a, b, c;  // operands: positions in the pattern
  int32_t value;
};

struct Pattern {
  static constexpr size_t kMaxNodes = 20;
  std::array<PatternNode, kMaxNodes> nodes;
  uint8_t size;
  constexpr Pattern() : nodes{}, size(0) {}
  constexpr Pattern(int literal) : Pattern(PatternNode::kLiteral, literal) {}
  constexpr Pattern(PatternNode::Op op, int which) : nodes{}, size(1) { nodes[0] = {op, 0, 0, 0, which}; }
  constexpr Pattern(PatternNode::Op op, const Pattern& a, const Pattern& b, const Pattern& c)
      : nodes{}, size(0) {
    const uint8_t first = add(a), second = add(b), third = add(c);
    nodes[size++] = {op, first, second, third, 0};
  }
  constexpr uint8_t root() const { return size - 1; }
  constexpr bool empty() const { return size == 0; }

 private:
  // Appends the nodes of `part`; returns the position of its root.
  constexpr uint8_t add(const Pattern& part) {
    const uint8_t offset = size;
    for (uint8_t n = 0; n < part.size; ++n) {
      PatternNode node = part.nodes[n];
      if (node.op >= PatternNode::kAdd) {
        node.a += offset;
        node.b += offset;
        node.c += offset;
      }
      nodes[size++] = node;  // past the end of the array it is a compile-time error
    }
    return part.empty() ? 0 : size - 1;
  }
};

struct Rule {
  Pattern left, right;
  Pattern guard;  // a condition that must be provable; empty: always
};
constexpr Rule rule(const Pattern& left, const Pattern& right, const Pattern& guard = {}) {
  return {left, right, guard};
}

/// The names and functions that rules are written with.
namespace pattern {
inline constexpr Pattern x{PatternNode::kVar, 0}, y{PatternNode::kVar, 1}, z{PatternNode::kVar, 2},
    w{PatternNode::kVar, 3};
inline constexpr Pattern c{PatternNode::kConst, 0}, d{PatternNode::kConst, 1}, e{PatternNode::kConst, 2};
inline constexpr Pattern p{PatternNode::kCondition, 0}, q{PatternNode::kCondition, 1},
    r{PatternNode::kCondition, 2};

#define TILEWRIGHT_PATTERN_OPERATOR(name, Op) \
  constexpr Pattern name(const Pattern& a, const Pattern& b) { return {PatternNode::Op, a, b, {}}; }
TILEWRIGHT_PATTERN_OPERATOR(min, kMin)
TILEWRIGHT_PATTERN_OPERATOR(max, kMax)
#undef TILEWRIGHT_PATTERN_OPERATOR
constexpr Pattern select(const Pattern& condition, const Pattern& a, const Pattern& b) {
  return {PatternNode::kSelect, condition, a, b};
}
}  // namespace pattern
constexpr Pattern operator+(const Pattern& a, const Pattern& b) { return {PatternNode::kAdd, a, b, {}}; }
constexpr Pattern operator-(const Pattern& a, const Pattern& b) { return {PatternNode::kSub, a, b, {}}; }
constexpr Pattern operator*(const Pattern& a, const Pattern& b) { return {PatternNode::kMul, a, b, {}}; }
constexpr Pattern operator/(const Pattern& a, const Pattern& b) { return {PatternNode::kFloorDiv, a, b, {}}; }
constexpr Pattern operator%(const Pattern& a, const Pattern& b) { return {PatternNode::kFloorMod, a, b, {}}; }
constexpr Pattern operator<(const Pattern& a, const Pattern& b) { return {PatternNode::kLT, a, b, {}}; }
constexpr Pattern operator<=(const Pattern& a, const Pattern& b) { return {PatternNode::kLE, a, b, {}}; }
constexpr Pattern operator>(const Pattern& a, const Pattern& b) { return b < a; }
constexpr Pattern operator>=(const Pattern& a, const Pattern& b) { return b <= a; }
constexpr Pattern operator==(const Pattern& a, const Pattern& b) { return {PatternNode::kEQ, a, b, {}}; }
constexpr Pattern operator&&(const Pattern& a, const Pattern& b) { return {PatternNode::kAnd, a, b, {}}; }
constexpr Pattern operator||(const Pattern& a, const Pattern& b) { return {PatternNode::kOr, a, b, {}}; }
constexpr Pattern operator!(const Pattern& a) { return {PatternNode::kNot, a, {}, {}}; }

/// The tables, by the kind of term they rewrite.  Add and sub rules rewrite any two terms of a sum.
using RuleTable = std::span<const Rule>;
extern const RuleTable kAddRules, kSubRules, kMulRules, kDivModRules, kMinMaxRules, kCompareRules,
    kSelectRules, kLogicRules;

/// The result of the first rule that matches `id`, or nullopt.
std::optional<Id> apply_rules(Analyzer::State& state, RuleTable table, Id id);
/// `form` rewritten by the first rule that matches its n-th term together with others, or nullopt.
std::optional<Linear> apply_sum_rules(Analyzer::State& state, RuleTable table, const Linear& form, size_t n,
                                      DataType dtype);

/// min(x, x + c) => x  when 0 <= c
std::string to_string(const Rule& rule);
/// Values for the names in a pattern; conditions are 0 or 1.
struct PatternValues {
  std::array<int64_t, 4> vars{}, consts{}, conditions{};
};
/// The value of `pattern`; nullopt if it divides by zero or overflows int64.
std::optional<int64_t> evaluate(const Pattern& pattern, const PatternValues& values);

}  // namespace tilewright::arith
