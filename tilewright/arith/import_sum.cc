// Converts sums of any length to terms, without recursion along the sum.
#include <algorithm>
#include <unordered_map>

#include "tilewright/arith/state.h"
#include "tilewright/tir/builder.h"

namespace tilewright::arith {
namespace {

// The operands of a node of a sum, with factors; empty for a node that is not a sum.
struct Operand {
  const PrimExpr* expr;
  int64_t factor;
};
size_t operands_of(const PrimExpr& expr, Operand (&operands)[2]) {
  const auto* node = expr.as<BinaryOpNode>();
  if (!node) return 0;
  if (expr->kind == Kind::kAdd || expr->kind == Kind::kSub) {
    operands[0] = {&node->a, 1};
    operands[1] = {&node->b, expr->kind == Kind::kAdd ? 1 : -1};
    return 2;
  }
  if (expr->kind != Kind::kMul) return 0;
  const auto *left = node->a.as<IntImmNode>(), *right = node->b.as<IntImmNode>();
  if (!left && !right) return 0;
  operands[0] = {right ? &node->a : &node->b, right ? right->value : left->value};
  return 1;
}

// Collects factor * leaf over a sum whose nodes may be shared.
class Flattener {
 public:
  struct Leaf {
    const PrimExpr* expr;
    int64_t factor;
  };
  std::vector<Leaf> leaves;

  void flatten(const PrimExpr& root) {
    if (!flatten_as_tree(root)) flatten_as_graph(root);
  }

 private:
  static int64_t multiply(int64_t a, int64_t b) {
    int64_t product;
    if (__builtin_mul_overflow(a, b, &product)) throw NotRepresentable{};
    return product;
  }

  // Returns false if there are very many paths, probably because nodes are shared.
  bool flatten_as_tree(const PrimExpr& root) {
    constexpr int kMaxVisits = 1000;
    std::vector<Leaf> pending{{&root, 1}};
    for (int visits = 0; !pending.empty(); ++visits) {
      if (visits > kMaxVisits) return leaves.clear(), false;
      const Leaf next = pending.back();
      pending.pop_back();
      Operand operands[2];
      const size_t count = operands_of(*next.expr, operands);
      if (count == 0) leaves.push_back(next);
      for (size_t n = count; n-- > 0;)  // so that the left operand is taken first
        pending.push_back({operands[n].expr, multiply(next.factor, operands[n].factor)});
    }
    return true;
  }

  // A node is processed once all its users have added their factors.
  void flatten_as_graph(const PrimExpr& root) {
    struct Node {
      int64_t factor = 0;
      int num_users = 0;
    };
    std::unordered_map<const Object*, Node> nodes;
    std::vector<const PrimExpr*> pending{&root};
    nodes[root.get()].num_users = 1;
    Operand operands[2];
    while (!pending.empty()) {
      const PrimExpr* next = pending.back();
      pending.pop_back();
      for (size_t n = operands_of(*next, operands); n-- > 0;) {
        if (nodes[operands[n].expr->get()].num_users++ == 0) pending.push_back(operands[n].expr);
      }
    }
    nodes[root.get()] = {1, 0};
    pending.push_back(&root);
    while (!pending.empty()) {
      const PrimExpr* next = pending.back();
      pending.pop_back();
      const int64_t factor = nodes[next->get()].factor;
      const size_t count = operands_of(*next, operands);
      if (count == 0) leaves.push_back({next, factor});
      for (size_t n = count; n-- > 0;) {
        Node& operand = nodes[operands[n].expr->get()];
        const int64_t more = multiply(factor, operands[n].factor);
        if (__builtin_add_overflow(operand.factor, more, &operand.factor)) throw NotRepresentable{};
        if (--operand.num_users == 0) pending.push_back(operands[n].expr);
      }
    }
  }
};

}  // namespace

Linear Analyzer::State::import_linear(const PrimExpr& expr) {
  Operand operands[2];
  if (operands_of(expr, operands) == 0) return terms.linear(import(expr));
  Flattener flattener;
  flattener.flatten(expr);
  // collected first and merged once: adding them one by one would be quadratic
  std::vector<Arg> parts;
  Linear total;
  for (const auto& [leaf, factor] : flattener.leaves) {
    const bool is_product = (*leaf)->kind == Kind::kMul;
    const Id id = is_product ? import_product(leaf->as<BinaryOpNode>()) : import(*leaf);
    const Linear value = terms.linear(id);
    total = shifted(total + scaled({{}, value.constant, value.is_exact}, factor), 0);
    for (const Arg& part : value.terms) {
      int64_t coeff;
      if (__builtin_mul_overflow(part.coeff, factor, &coeff)) throw NotRepresentable{};
      parts.push_back({part.id, coeff});
    }
  }
  std::sort(parts.begin(), parts.end(), [](const Arg& a, const Arg& b) { return a.id < b.id; });
  for (size_t n = 0; n < parts.size();) {
    Arg part{parts[n].id, 0};
    for (; n < parts.size() && parts[n].id == part.id; ++n) {
      if (__builtin_add_overflow(part.coeff, parts[n].coeff, &part.coeff)) throw NotRepresentable{};
    }
    if (std::abs(part.coeff) > Linear::kLimit) throw NotRepresentable{};
    if (part.coeff != 0) total.terms.push_back(part);
  }
  if (!total.is_exact) throw NotRepresentable{};
  return total;
}

Id Analyzer::State::import_product(const BinaryOpNode* node) {
  const Id a = import(node->a), b = import(node->b);
  return product(a, b);
}

Id Analyzer::State::import_sum(const PrimExpr& expr) {
  Operand operands[2];
  if (operands_of(expr, operands) == 0) return import_product(expr.as<BinaryOpNode>());
  return sum(import_linear(expr), expr->dtype);
}

}  // namespace tilewright::arith
