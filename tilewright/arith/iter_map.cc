// Iterator maps: detection, the check that loops and indices correspond, normal forms and inverses.
#include "tilewright/arith/iter_map.h"

#include <algorithm>
#include <unordered_map>

#include "tilewright/arith/iter_parse.h"
#include "tilewright/tir/builder.h"

namespace tilewright::arith {
namespace {

// Checks that the digits of each mark that the indices use are all of its digits, each exactly once.
class Coverage {
 public:
  Coverage(const IterMap& map, IterMapLevel level, Analyzer& analyzer)
      : map_(map), level_(level), analyzer_(analyzer) {}

  std::string check() {
    for (const IterSum& index : map_.indices) {
      for (const IterSplit& digit : index.args) uses_[digit.source].push_back(digit);
    }
    // a fused mark is created after the marks it consists of
    for (auto mark = map_.marks.rbegin(); mark != map_.marks.rend(); ++mark) {
      const auto used = uses_.find(&*mark);
      if (used == uses_.end()) {
        if (mark->var && !is_one(mark->extent) && level_ != IterMapLevel::kSurjective)
          return fmt::format("no index uses loop {}", mark->var->name_hint);
        continue;
      }
      if (std::string reason = check_digits(*mark, used->second); !reason.empty()) return reason;
      if (!mark->var) {
        for (const IterSplit& digit : mark->fused.args) uses_[digit.source].push_back(digit);
      }
    }
    return "";
  }

 private:
  std::string name_of(const IterMark& mark) const {
    return mark.var ? fmt::format("loop {}", mark.var->name_hint) : std::string("a fused loop");
  }

  std::string check_digits(const IterMark& mark, std::vector<IterSplit> digits) {
    PrimExpr expected = make_const_int(mark.extent->dtype, 1);
    while (!digits.empty()) {
      auto next = std::find_if(digits.begin(), digits.end(), [&](const IterSplit& digit) {
        return analyzer_.can_prove_equal(digit.lower_factor, expected);
      });
      const bool may_skip = level_ == IterMapLevel::kSurjective;
      if (next == digits.end() && may_skip) next = lowest_above(&digits, expected);
      if (next == digits.end())
        return fmt::format("the indices use parts of {} twice or not at all", name_of(mark));
      expected = analyzer_.simplify(next->lower_factor * next->extent);
      digits.erase(next);
    }
    if (level_ == IterMapLevel::kSurjective) return "";
    if (!analyzer_.can_prove_equal(expected, mark.extent))
      return fmt::format("the indices do not use all of {}", name_of(mark));
    return "";
  }

  std::vector<IterSplit>::iterator lowest_above(std::vector<IterSplit>* digits, const PrimExpr& expected) {
    for (auto it = digits->begin(); it != digits->end(); ++it) {
      const bool is_lowest = std::all_of(digits->begin(), digits->end(), [&](const IterSplit& other) {
        return analyzer_.can_prove(it->lower_factor <= other.lower_factor);
      });
      const bool is_aligned = analyzer_.can_prove(
          equal(floormod(it->lower_factor, expected), make_const_int(expected->dtype, 0)));
      if (is_lowest && is_aligned && analyzer_.can_prove(it->lower_factor >= expected)) return it;
    }
    return digits->end();
  }

  const IterMap& map_;
  IterMapLevel level_;
  Analyzer& analyzer_;
  std::unordered_map<const IterMark*, std::vector<IterSplit>> uses_;
};

bool uses_mark(const IterMap& map, const IterMark* wanted) {
  auto holds = [&](const IterSum& sum) {
    return std::any_of(sum.args.begin(), sum.args.end(),
                       [&](const IterSplit& digit) { return digit.source == wanted; });
  };
  return std::any_of(map.indices.begin(), map.indices.end(), holds) ||
         std::any_of(map.marks.begin(), map.marks.end(),
                     [&](const IterMark& mark) { return holds(mark.fused); });
}

// True if different digits give different values: each stride is at least one more than the maximum sum of
// the smaller digits.
bool has_distinct_values(std::vector<IterSplit> digits, Analyzer& analyzer) {
  std::erase_if(digits, [](const IterSplit& digit) { return is_one(digit.extent); });
  PrimExpr reach;
  while (!digits.empty()) {
    auto next = std::find_if(digits.begin(), digits.end(), [&](const IterSplit& digit) {
      return std::all_of(digits.begin(), digits.end(), [&](const IterSplit& other) {
        return analyzer.can_prove(digit.scale <= other.scale);
      });
    });
    if (next == digits.end() || !analyzer.can_prove(next->scale > 0)) return false;
    if (reach && !analyzer.can_prove(next->scale >= reach)) return false;
    reach = analyzer.simplify(next->scale * next->extent);
    digits.erase(next);
  }
  return true;
}

std::string detect(const std::vector<PrimExpr>& bindings, const PrimExpr& predicate, IterMapLevel level,
                   IterParser* parser, IterMap* map, Analyzer& analyzer) {
  const bool may_leave_gaps = level == IterMapLevel::kInjective;
  try {
    parser->constrain(predicate);
  } catch (const NotAffine& error) {
    return error.reason;
  }
  for (size_t n = 0; n < bindings.size(); ++n) {
    try {
      IterSum sum = parser->parse(analyzer.simplify(bindings[n]));
      if (may_leave_gaps && has_distinct_values(sum.args, analyzer)) {
        std::erase_if(sum.args, [](const IterSplit& digit) { return is_one(digit.extent); });
        map->indices.push_back(std::move(sum));
        continue;
      }
      const auto digit = parser->fuse(std::move(sum.args));
      sum.args.clear();
      if (digit) sum.args.push_back(*digit);
      if (digit && !may_leave_gaps && !is_one(digit->scale)) throw NotAffine{"its values leave gaps"};
      map->indices.push_back(std::move(sum));
    } catch (const NotAffine& error) {
      return fmt::format("index {} is not quasi-affine: {}", n, error.reason);
    }
  }
  for (const IterMark* mark : parser->constrained()) {
    if (!uses_mark(*map, mark)) return "the predicate restricts loops in a way that no index shows";
  }
  return Coverage(*map, level, analyzer).check();
}

}  // namespace

IterMap detect_iter_map(const std::vector<PrimExpr>& bindings, const IterRanges& ranges,
                        const PrimExpr& predicate, IterMapLevel level, Analyzer& analyzer) {
  auto scope = analyzer.enter();
  for (const auto& [var, range] : ranges) analyzer.bind(var, range);
  const PrimExpr condition = predicate ? analyzer.simplify(predicate) : PrimExpr();
  const auto under = [&](const PrimExpr& condition) {
    IterMap map;
    IterParser parser(ranges, &map, analyzer);
    map.reason = detect(bindings, condition, level, &parser, &map, analyzer);
    return map;
  };
  if (level != IterMapLevel::kInjective) return under(condition);
  IterMap map = under({});  // a map that is injective on all iterations is injective on a subset
  if (map || !condition || is_one(condition)) return map;
  IterMap shortened = under(condition);
  return shortened ? std::move(shortened) : std::move(map);
}

PrimExpr to_expr(const IterSplit& split) {
  const IterMark& mark = *split.source;
  PrimExpr value = mark.var ? PrimExpr(mark.var) - mark.min : to_expr(mark.fused);
  if (!is_one(split.lower_factor)) value = floordiv(value, split.lower_factor);
  Analyzer analyzer;
  if (!analyzer.can_prove_equal(split.lower_factor * split.extent, mark.extent))
    value = floormod(value, split.extent);
  return value * split.scale;
}

PrimExpr to_expr(const IterSum& sum) {
  PrimExpr total;
  for (const IterSplit& digit : sum.args) total = total ? total + to_expr(digit) : to_expr(digit);
  if (!total) return sum.base;
  return is_zero(sum.base) ? total : total + sum.base;
}

std::vector<PrimExpr> normalize(const std::vector<PrimExpr>& bindings, const IterRanges& ranges,
                                const PrimExpr& predicate, Analyzer& analyzer) {
  auto scope = analyzer.enter();
  for (const auto& [var, range] : ranges) analyzer.bind(var, range);
  if (predicate) analyzer.require(predicate);
  std::vector<PrimExpr> results;
  for (const PrimExpr& binding : bindings) {
    PrimExpr simple = analyzer.simplify(binding);
    IterMap map;
    IterParser parser(ranges, &map, analyzer);
    try {
      parser.constrain(predicate);
      PrimExpr normal = analyzer.simplify(to_expr(parser.parse(simple)));
      simple = normal;
    } catch (const NotAffine&) {  // no normal form: keep the simplified binding
    }
    results.push_back(std::move(simple));
  }
  return results;
}

std::vector<std::pair<Var, PrimExpr>> inverse_affine_iter_map(const IterMap& map,
                                                              const std::vector<PrimExpr>& outputs,
                                                              Analyzer& analyzer) {
  TILEWRIGHT_CHECK(map && outputs.size() == map.indices.size(),
                   "the inverse of a map of {} indices from {} outputs", map.indices.size(), outputs.size());
  std::unordered_map<const IterMark*, PrimExpr> values;
  auto add = [&](const IterSplit& digit, PrimExpr value, bool is_outermost) {
    if (!is_one(digit.scale)) value = floordiv(value, digit.scale);
    if (!is_outermost) value = floormod(value, digit.extent);
    value = value * digit.lower_factor;
    PrimExpr& known = values[digit.source];
    known = known ? known + value : value;
  };
  auto add_all = [&](const IterSum& sum, const PrimExpr& value) {
    for (size_t n = 0; n < sum.args.size(); ++n) add(sum.args[n], value, n == 0 && sum.args.size() == 1);
  };
  for (size_t n = 0; n < outputs.size(); ++n) add_all(map.indices[n], outputs[n] - map.indices[n].base);
  std::vector<std::pair<Var, PrimExpr>> inverse;
  for (auto mark = map.marks.rbegin(); mark != map.marks.rend(); ++mark) {
    auto known = values.find(&*mark);
    if (known == values.end()) continue;
    const PrimExpr value = known->second;
    if (mark->var)
      inverse.emplace_back(mark->var, analyzer.simplify(value + mark->min));
    else
      for (size_t n = 0; n < mark->fused.args.size(); ++n) add(mark->fused.args[n], value, n == 0);
  }
  std::reverse(inverse.begin(), inverse.end());
  return inverse;
}

}  // namespace tilewright::arith
