// An index is a sum of digits: parts of threads and loop variables, v // 4 % 3, times constants.  A sum tells its digits if
// each factor is larger than all that the smaller ones add up to:
//   t // 3 * 4 + t % 3 * 2 + i, where i < 2 and t % 3 < 2:  1 * 1 < 2, 1 * 1 + 2 * 1 < 4
// A condition on several digits, t // 2 * 2 + y < 3, makes one of them where the index has this sum as a part; that one is
// then told apart in the same way.  Digits of which no other value is left need not be in the index.
#include "tilewright/lower/common/thread_digits.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "tilewright/arith/analyzer.h"
#include "tilewright/arith/iter_parse.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/common/surroundings.h"
#include "tilewright/tir/builder.h"

namespace tilewright::lower {
namespace {

const PrimExpr& without_casts(const PrimExpr& expr) {
  const auto* cast = expr.as<CastNode>();
  const bool keeps_value = cast && cast->value->dtype.is_int() && cast->dtype.is_int();
  return keeps_value ? without_casts(cast->value) : expr;
}

// var // below % (above / below); above = 0: var // below
struct Digit {
  const VarNode* var;
  int64_t below = 1, above = 0;
  auto operator<=>(const Digit&) const = default;
};

// A number of digits, each times a factor.
using Sum = std::map<Digit, int64_t>;

// var // divisor % modulus, where a modulus of 0 is none.
struct Part {
  const VarNode* var = nullptr;  // null: the expression is none
  int64_t divisor = 1, modulus = 0;
};
Part part_of(const PrimExpr& whole) {
  const PrimExpr& expr = without_casts(whole);
  if (const auto* var = expr.as<VarNode>()) return {var};
  int64_t number = 0;
  const auto* operation = expr.as<BinaryOpNode>();
  if (!operation || !as_const_int(operation->b, &number) || number < 1) return {};
  Part part = part_of(operation->a);
  int64_t end = 0;
  if (!part.var || part.modulus != 0 || __builtin_mul_overflow(part.divisor, number, &end)) return {};
  if (is<FloorDivNode>(expr)) return {part.var, end};
  if (is<FloorModNode>(expr)) return {part.var, part.divisor, number};
  return {};
}

struct Range64 {
  int64_t min, max;
};

class Proof {
 public:
  Proof(const arith::IterRanges& threads, const arith::IterRanges& loops) : threads_(threads) {
    for (const arith::IterRanges* ranges : {&threads, &loops}) {
      for (const auto& [var, range] : *ranges) {
        analyzer_.bind(var, range);
        vars_.emplace(var.get(), var);
        cuts_[var.get()] = {1};
      }
    }
  }

  bool run(const PrimExpr& index, const PrimExpr& condition) {
    std::vector<PrimExpr> parts;
    if (condition) {
      parts = arith::conjuncts(condition);
      learn_condition(condition, analyzer_);
    }
    add_cuts(index);
    for (const PrimExpr& part : parts) add_cuts(part);
    if (!divide_each_other()) return false;
    for (const PrimExpr& part : parts) learn(part);
    Sum sum;
    bool has_others = false;
    if (!add(index, 1, &sum, &has_others) || !tell(sum)) return false;
    return std::ranges::all_of(threads_, [&](const auto& axis) {
      return std::ranges::all_of(digits_of(axis.first.get(), {}), [&](const Digit& digit) {
        const Range64 range = range_of(digit);
        return told_.count(digit) || range.min == range.max;
      });
    });
  }

 private:
  // ---- digits: where variables are cut
  void add_cuts(const PrimExpr& expr) {
    ir::walk(expr, [&](const BinaryOpNode* node) {
      const Part part = part_of(PrimExpr(node));
      const auto known = cuts_.find(part.var);
      if (known == cuts_.end()) return true;
      known->second.insert(part.divisor);
      if (part.modulus != 0) known->second.insert(part.divisor * part.modulus);
      return false;
    });
  }
  bool divide_each_other() const {
    return std::ranges::all_of(cuts_, [](const auto& entry) {
      const std::set<int64_t>& cuts = entry.second;
      return std::adjacent_find(cuts.begin(), cuts.end(), [](int64_t a, int64_t b) { return b % a != 0; }) ==
             cuts.end();
    });
  }
  // The digits of var // part.divisor % part.modulus, the lowest first.
  std::vector<Digit> digits_of(const VarNode* var, const Part& part) const {
    std::vector<Digit> digits;
    const std::set<int64_t>& cuts = cuts_.at(var);
    for (auto cut = cuts.begin(); cut != cuts.end(); ++cut) {
      const auto next = std::next(cut);
      const bool is_below = part.modulus != 0 && *cut >= part.divisor * part.modulus;
      if (*cut >= part.divisor && !is_below) digits.push_back({var, *cut, next == cuts.end() ? 0 : *next});
    }
    return digits;
  }
  Range64 range_of(const Digit& digit) {
    const auto known = ranges_.find(digit);
    if (known != ranges_.end()) return known->second;
    const Var& var = vars_.at(digit.var);
    PrimExpr value = floordiv(var, make_const_int(var->dtype, digit.below));
    if (digit.above != 0) value = floormod(value, make_const_int(var->dtype, digit.above / digit.below));
    const arith::ConstBounds bounds = analyzer_.const_bounds(value);
    return ranges_[digit] = {bounds.min, bounds.max};
  }

  // ---- sums
  // Adds expr * factor to `sum`; false if its terms are not digits.  Terms that are the same for all threads and
  // iterations say nothing about them: they are left out, and `has_others` becomes true.
  bool add(const PrimExpr& whole, int64_t factor, Sum* sum, bool* has_others) const {
    const PrimExpr& expr = without_casts(whole);
    int64_t number = 0;
    if (is_uniform(expr)) {
      *has_others = true;
      return true;
    }
    if (const Part part = part_of(expr); part.var && cuts_.count(part.var)) {
      for (const Digit& digit : digits_of(part.var, part))
        (*sum)[digit] += factor * (digit.below / part.divisor);
      return true;
    }
    const auto* operation = expr.as<BinaryOpNode>();
    if (is<AddNode>(expr) || is<SubNode>(expr)) {
      const int64_t sign = is<SubNode>(expr) ? -1 : 1;
      return add(operation->a, factor, sum, has_others) && add(operation->b, sign * factor, sum, has_others);
    }
    return is<MulNode>(expr) && as_const_int(operation->b, &number) &&
           !__builtin_mul_overflow(factor, number, &number) && add(operation->a, number, sum, has_others);
  }
  bool is_uniform(const PrimExpr& expr) const {
    bool found = true;
    ir::walk(
        expr, [&](const VarNode* var) { found &= cuts_.count(var) == 0; },
        [&](const BufferLoadNode*) { found = false; }, [&](const CallNode*) { found = false; });
    return found;
  }

  // ---- conditions: sum < end
  void learn(const PrimExpr& condition) {
    const auto* comparison = condition.as<BinaryOpNode>();
    int64_t end = 0;
    if (!comparison || !as_const_int(comparison->b, &end) || end == arith::kPosInf) return;
    if (is<LENode>(condition))
      ++end;
    else if (!is<LTNode>(condition) && !is<EQNode>(condition))
      return;
    Sum sum;
    bool has_others = false;
    if (!add(comparison->a, 1, &sum, &has_others) || has_others || sum.empty()) return;
    const bool is_digit = sum.size() == 1 && sum.begin()->second == 1;
    if (is_digit) {
      Range64 range = range_of(sum.begin()->first);
      if (is<EQNode>(condition))
        range = {end, end};
      else
        range.max = std::min(range.max, end - 1);
      ranges_[sum.begin()->first] = range;
    } else if (!is<EQNode>(condition)) {
      limits_.emplace_back(std::move(sum), end - 1);
    }
  }

  // ---- what a sum tells
  struct Item {
    int64_t factor, span;  // largest less smallest value
    Sum parts;
  };
  int64_t span_of(const Digit& digit) {
    const Range64 range = range_of(digit);
    const bool is_known = range.min != arith::kNegInf && range.max != arith::kPosInf;
    return is_known ? std::max<int64_t>(range.max - range.min, 0) : arith::kPosInf;
  }
  // a * b, or infinity
  static int64_t times(int64_t a, int64_t b) {
    int64_t result = 0;
    return __builtin_mul_overflow(a, b, &result) ? arith::kPosInf : result;
  }

  // Takes the sum `limit`, times a factor, out of `rest`; false if it is no part of it, or is not shorter so.
  bool take(const std::pair<Sum, int64_t>& limit, Sum* rest, std::vector<Item>* items) {
    const auto& [sum, most] = limit;
    const auto first = rest->find(sum.begin()->first);
    if (first == rest->end() || first->second % sum.begin()->second != 0) return false;
    const int64_t factor = first->second / sum.begin()->second;
    int64_t least = 0, span = 0;
    for (const auto& [digit, times_digit] : sum) {
      const auto found = rest->find(digit);
      const Range64 range = range_of(digit);
      if (found == rest->end() || found->second != factor * times_digit || times_digit < 0 ||
          range.min == arith::kNegInf)
        return false;
      least += times_digit * range.min;
      const int64_t part = times(times_digit, span_of(digit));
      span = part == arith::kPosInf || span == arith::kPosInf ? arith::kPosInf : span + part;
    }
    const int64_t limited = std::max<int64_t>(most - least, 0);
    if (factor == 0 || limited >= span || sum.size() == rest->size()) return false;
    for (const auto& [digit, times_digit] : sum) rest->erase(digit);
    items->push_back({std::abs(factor), limited, sum});
    return true;
  }

  bool tell(const Sum& sum) {
    Sum rest = sum;
    std::erase_if(rest, [](const auto& term) { return term.second == 0; });
    std::vector<Item> items;
    for (const auto& limit : limits_) take(limit, &rest, &items);
    for (const auto& [digit, factor] : rest)
      items.push_back({std::abs(factor), span_of(digit), {{digit, 1}}});
    std::erase_if(items, [](const Item& item) { return item.span == 0 && item.parts.size() == 1; });
    std::ranges::sort(items, {}, &Item::factor);
    int64_t before = 0;  // what the smaller ones add up to
    for (const Item& item : items) {
      if (before == arith::kPosInf || item.factor <= before) return false;
      const int64_t part = times(item.factor, item.span);
      before = part >= arith::kPosInf - before ? arith::kPosInf : before + part;
    }
    for (const Item& item : items) {
      if (item.parts.size() == 1)
        told_.insert(item.parts.begin()->first);
      else if (!tell(item.parts))
        return false;
    }
    return true;
  }

  const arith::IterRanges& threads_;
  arith::Analyzer analyzer_;
  std::map<const VarNode*, Var> vars_;
  std::map<const VarNode*, std::set<int64_t>> cuts_;
  std::map<Digit, Range64> ranges_;
  std::vector<std::pair<Sum, int64_t>> limits_;  // sums, and the most that each is
  std::set<Digit> told_;
};

}  // namespace

bool tells_threads(const PrimExpr& index, const PrimExpr& condition, const arith::IterRanges& threads,
                   const arith::IterRanges& loops) {
  return Proof(threads, loops).run(index, condition);
}

}  // namespace tilewright::lower
