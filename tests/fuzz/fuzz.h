// Shared by the fuzzers: seeds from the environment, random numbers, evaluation of integer expressions.
#pragma once
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <string>

#include "tilewright/tir/arithmetic.h"
#include "tilewright/tir/builder.h"

namespace tilewright::fuzz {
using namespace tir;

/// How many cases to run: TILEWRIGHT_FUZZ_CASES or `otherwise`.
inline int64_t num_cases(int64_t otherwise) {
  const char* text = std::getenv("TILEWRIGHT_FUZZ_CASES");
  return text ? std::atoll(text) : otherwise;
}

/// TILEWRIGHT_FUZZ_SEED: a number, or "fresh" for a new one, which is printed; 1 if unset.
inline uint64_t seed() {
  const char* text = std::getenv("TILEWRIGHT_FUZZ_SEED");
  if (!text) return 1;
  const uint64_t value =
      std::string(text) == "fresh" ? std::random_device{}() : std::strtoull(text, nullptr, 10);
  std::cout << "TILEWRIGHT_FUZZ_SEED=" << value << std::endl;
  return value;
}

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  /// low <= result <= high
  int64_t between(int64_t low, int64_t high) {
    const uint64_t count = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;  // 0: all of them
    const uint64_t offset = count ? engine_() % count : engine_();
    return static_cast<int64_t>(static_cast<uint64_t>(low) + offset);
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  template <class T>
  const T& pick(const std::vector<T>& items) {
    return items[static_cast<size_t>(between(0, static_cast<int64_t>(items.size()) - 1))];
  }

 private:
  std::mt19937_64 engine_;
};

using Point = std::map<const VarNode*, int64_t>;

/// The value at `point`; nothing where it is undefined (division by zero).  `and`, `or` and if_then_else
/// evaluate what they need, Select both values.
inline std::optional<int64_t> evaluate(const PrimExpr& expr, const Point& point) {
  if (const auto* literal = expr.as<IntImmNode>()) return literal->value;
  if (const auto* var = expr.as<VarNode>()) return point.at(var);
  if (const auto* node = expr.as<NotNode>()) {
    const auto a = evaluate(node->a, point);
    return a ? std::optional<int64_t>(!*a) : std::nullopt;
  }
  if (const auto* node = expr.as<CastNode>()) return evaluate(node->value, point);
  if (const auto* node = expr.as<SelectNode>()) {
    const auto condition = evaluate(node->condition, point), a = evaluate(node->true_value, point),
               b = evaluate(node->false_value, point);
    if (!condition || !a || !b) return std::nullopt;
    return *condition ? a : b;
  }
  if (const auto* node = expr.as<CallNode>()) {  // if_then_else
    const auto condition = evaluate(node->args[0], point);
    return condition ? evaluate(node->args[*condition ? 1 : 2], point) : std::nullopt;
  }
  const auto* node = expr.as<BinaryOpNode>();
  const auto a = evaluate(node->a, point);
  if (!a) return std::nullopt;
  if (expr->kind == Kind::kAnd && !*a) return 0;
  if (expr->kind == Kind::kOr && *a) return 1;
  const auto b = evaluate(node->b, point);
  return b ? fold_int(expr->kind, *a, *b, kInt64) : std::nullopt;
}

}  // namespace tilewright::fuzz
