// Decides if a choice between two tuples may be made in groups, or in any order.  It consists of comparisons
// of corresponding parts, so that three values of each part and NaN cover all cases of three tuples: each is
// tried.
#include <algorithm>
#include <unordered_map>

#include "tilewright/analysis/update.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"

namespace tilewright::analysis {
namespace {

constexpr size_t kMostParts = 2;
constexpr int kNumValues = 3, kNotANumber = kNumValues;

using Tuple = std::vector<int>;

class Choice {
 public:
  Choice(const std::vector<PrimExpr>& results, const std::vector<Var>& so_far, const std::vector<Var>& next)
      : results_(results) {
    for (size_t n = 0; n < so_far.size(); ++n) {
      places_[so_far[n].get()] = {n, true};
      places_[next[n].get()] = {n, false};
    }
  }

  // op(a, b); `is_known` becomes false if it is made of more than comparisons.
  Tuple of(const Tuple& a, const Tuple& b) {
    a_ = &a, b_ = &b;
    Tuple result;
    for (const PrimExpr& each : results_) result.push_back(value(each).number);
    return result;
  }
  bool is_known = true;

 private:
  struct Value {
    int number = 0;   // 0 or 1 for conditions
    size_t part = 0;  // which of the tuple's parts it is; conditions have none
  };

  Value unknown() {
    is_known = false;
    return {};
  }

  Value compared(const BinaryOpNode* node) {
    const Value a = value(node->a), b = value(node->b);
    if (node->a->dtype.is_bool() || a.part != b.part) return unknown();
    const bool has_order = a.number != kNotANumber && b.number != kNotANumber;
    switch (node->kind) {
      case Kind::kEQ: return {has_order && a.number == b.number};
      case Kind::kNE: return {!has_order || a.number != b.number};
      case Kind::kLT: return {has_order && a.number < b.number};
      case Kind::kLE: return {has_order && a.number <= b.number};
      case Kind::kGT: return {has_order && a.number > b.number};
      case Kind::kGE: return {has_order && a.number >= b.number};
      // machines disagree about the minimum of NaN and a number: numbers alone decide
      case Kind::kMin: return {has_order ? std::min(a.number, b.number) : kNotANumber, a.part};
      case Kind::kMax: return {has_order ? std::max(a.number, b.number) : kNotANumber, a.part};
      default: return unknown();
    }
  }

  Value chosen(const PrimExpr& condition, const PrimExpr& yes, const PrimExpr& no) {
    if (!condition->dtype.is_bool()) return unknown();
    const Value a = value(yes), b = value(no);
    if (a.part != b.part) return unknown();
    return value(condition).number ? a : b;
  }

  Value value(const PrimExpr& expr) {
    if (const auto* var = expr.as<VarNode>()) {
      const auto place = places_.find(var);
      if (place == places_.end()) return unknown();
      const auto [part, is_first] = place->second;
      return {(is_first ? *a_ : *b_)[part], part};
    }
    if (const auto* both = expr.as<AndNode>()) return {value(both->a).number && value(both->b).number};
    if (const auto* either = expr.as<OrNode>()) return {value(either->a).number || value(either->b).number};
    if (const auto* negated = expr.as<NotNode>()) return {!value(negated->a).number};
    if (const auto* choice = expr.as<SelectNode>())
      return chosen(choice->condition, choice->true_value, choice->false_value);
    if (const auto* call = expr.as<CallNode>(); call && is_if_then_else(call))
      return chosen(ref_as<PrimExprNode>(call->args[0]), ref_as<PrimExprNode>(call->args[1]),
                    ref_as<PrimExprNode>(call->args[2]));
    if (const auto* node = expr.as<BinaryOpNode>()) return compared(node);
    return unknown();
  }

  const std::vector<PrimExpr>& results_;
  std::unordered_map<const VarNode*, std::pair<size_t, bool>> places_;
  const Tuple *a_ = nullptr, *b_ = nullptr;
};

std::vector<Tuple> all_tuples(const std::vector<Var>& parts) {
  std::vector<Tuple> tuples = {{}};
  for (const Var& part : parts) {
    std::vector<Tuple> longer;
    for (const Tuple& tuple : tuples) {
      for (int value = 0; value < kNumValues + (part->dtype.is_float() ? 1 : 0); ++value) {
        longer.push_back(tuple);
        longer.back().push_back(value);
      }
    }
    tuples = std::move(longer);
  }
  return tuples;
}

}  // namespace

std::optional<TermOrder> order_of_choice(const std::vector<PrimExpr>& results, const std::vector<Var>& so_far,
                                         const std::vector<Var>& next) {
  if (results.size() > kMostParts) return std::nullopt;
  Choice choice(results, so_far, next);
  std::vector<Tuple> tuples = all_tuples(so_far);
  const auto is_number = [](const Tuple& tuple) {
    return std::find(tuple.begin(), tuple.end(), kNotANumber) == tuple.end();
  };
  const auto holds = [&](const std::vector<Tuple>& all, bool in_any_order) {
    for (const Tuple& a : all) {
      for (const Tuple& b : all) {
        const Tuple ab = choice.of(a, b);
        if (choice.of(ab, a) != ab || (in_any_order && choice.of(b, a) != ab)) return false;
        for (const Tuple& c : all) {
          if (choice.of(ab, c) != choice.of(a, choice.of(b, c))) return false;
        }
      }
    }
    return true;
  };
  // most choices have no place for NaN: like max itself they need to be right for numbers only
  if (!holds(tuples, false)) std::erase_if(tuples, [&](const Tuple& tuple) { return !is_number(tuple); });
  if (!holds(tuples, false) || !choice.is_known) return std::nullopt;
  return holds(tuples, true) ? TermOrder::kFree : TermOrder::kKept;
}

bool has_neutral_init(const Update& update) {
  const PrimExpr& value = update.identities[0];
  switch (update.results[0]->kind) {
    case Kind::kAdd:
    case Kind::kMul: {
      const double wanted = update.results[0]->kind == Kind::kAdd ? 0 : 1;
      if (const auto* number = value.as<FloatImmNode>()) return number->value == wanted;
      return is_const_int(value, static_cast<int64_t>(wanted));
    }
    default: return true;  // min, max, and, or, choices: taking the init in more than once changes nothing
  }
}

std::optional<Update> ordered_by_place(const Update& update, size_t place) {
  Update result = update;
  Substitution swapped;
  for (size_t n = 0; n < update.buffers.size(); ++n) {
    swapped[update.so_far[n].get()] = update.next[n];
    swapped[update.next[n].get()] = update.so_far[n];
  }
  const PrimExpr is_first = PrimExpr(update.so_far[place]) < PrimExpr(update.next[place]);
  for (size_t n = 0; n < update.buffers.size(); ++n) {
    const auto* choice = update.results[n].as<SelectNode>();
    if (!choice) continue;  // the larger of two
    const bool keeps = choice->true_value.get() == update.so_far[n].get();
    const PrimExpr condition = keeps ? choice->condition : logical_not(choice->condition);
    result.results[n] =
        select(logical_or(logical_and(is_first, condition),
                          logical_and(logical_not(is_first), logical_not(substitute(condition, swapped)))),
               update.so_far[n], update.next[n]);
  }
  if (order_of_choice(result.results, result.so_far, result.next) != TermOrder::kFree) return std::nullopt;
  result.order = TermOrder::kFree;
  return result;
}

}  // namespace tilewright::analysis
