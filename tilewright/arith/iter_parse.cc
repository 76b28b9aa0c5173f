#include "tilewright/arith/iter_parse.h"

#include <algorithm>
#include <set>

#include "tilewright/arith/expr_util.h"
#include "tilewright/tir/builder.h"

namespace tilewright::arith {
namespace {

// Adds a digit, merging it with an equal one; a digit with scale 0 is removed.
void add_digit(std::vector<IterSplit>* digits, IterSplit digit, Analyzer& analyzer) {
  for (auto it = digits->begin(); it != digits->end(); ++it) {
    if (it->source != digit.source || !analyzer.can_prove_equal(it->lower_factor, digit.lower_factor) ||
        !analyzer.can_prove_equal(it->extent, digit.extent))
      continue;
    it->scale = analyzer.simplify(it->scale + digit.scale);
    if (is_zero(it->scale)) digits->erase(it);
    return;
  }
  digits->push_back(std::move(digit));
}

bool same_digit(const IterSplit& a, const IterSplit& b, Analyzer& analyzer) {
  return a.source == b.source && analyzer.can_prove_equal(a.lower_factor, b.lower_factor) &&
         analyzer.can_prove_equal(a.extent, b.extent);
}

}  // namespace

std::vector<PrimExpr> conjuncts(const PrimExpr& predicate) {
  std::vector<PrimExpr> found, pending;
  if (predicate) pending.push_back(predicate);
  while (!pending.empty()) {
    const PrimExpr next = pending.back();
    pending.pop_back();
    const auto* less = next.as<LTNode>();
    if (const auto* both = next.as<AndNode>()) {
      pending.push_back(both->b);
      pending.push_back(both->a);
    } else if (const auto* least = less ? less->b.as<MinNode>() : nullptr) {
      pending.push_back(LTNode::make(less->a, least->b, less->span));
      pending.push_back(LTNode::make(less->a, least->a, less->span));
    } else if (!is_one(next)) {
      found.push_back(next);
    }
  }
  return found;
}

IterParser::IterParser(const IterRanges& ranges, IterMap* map, Analyzer& analyzer)
    : map_(map), analyzer_(analyzer) {
  for (const auto& [var, range] : ranges)
    map_->marks.push_back({var, analyzer.simplify(range->min), {}, analyzer.simplify(range->extent)});
}

const IterMark* IterParser::mark_of(const VarNode* var) const {
  for (const IterMark& mark : map_->marks) {
    if (mark.var && mark.var.get() == var) return &mark;
  }
  return nullptr;
}

bool IterParser::uses_loops(const PrimExpr& expr) const {
  return any_node(expr, [&](const Object* node) {
    return node->kind == Kind::kVar && mark_of(static_cast<const VarNode*>(node)) != nullptr;
  });
}

bool IterParser::is_multiple(const PrimExpr& value, const PrimExpr& of) {
  return analyzer_.can_prove(tir::equal(floormod(value, of), make_const_int(value->dtype, 0)));
}

IterSum IterParser::parse(const PrimExpr& expr) {
  constexpr int kMaxDepth = 200;
  const PrimExpr zero = make_const_int(expr->dtype, 0), one = make_const_int(expr->dtype, 1);
  if (const auto* var = expr.as<VarNode>()) {
    const IterMark* mark = mark_of(var);
    if (!mark) return {{}, expr};
    return {{{mark, one, mark->extent, one}}, mark->min};
  }
  if (!uses_loops(expr)) return {{}, expr};
  struct Depth {
    int& depth;
    ~Depth() { --depth; }
  } guard{++depth_};
  if (depth_ > kMaxDepth) throw NotAffine{"it is nested too deeply"};
  if (const auto* conversion = expr.as<CastNode>();
      conversion && is_index(expr->dtype) && is_index(conversion->value->dtype)) {
    IterSum sum = parse(conversion->value);
    for (IterSplit& digit : sum.args) digit.scale = cast(expr->dtype, digit.scale);
    sum.base = cast(expr->dtype, sum.base);
    return sum;
  }
  const auto* binary = expr.as<BinaryOpNode>();
  switch (expr->kind) {
    case Kind::kAdd:
    case Kind::kSub: {
      IterSum sum = parse(binary->a);
      const IterSum more = parse(binary->b);
      const bool is_sub = expr->kind == Kind::kSub;
      for (IterSplit digit : more.args) {
        if (is_sub) digit.scale = zero - digit.scale;
        add_digit(&sum.args, digit, analyzer_);
      }
      sum.base = analyzer_.simplify(is_sub ? sum.base - more.base : sum.base + more.base);
      return sum;
    }
    case Kind::kMul: {
      const bool left_moves = uses_loops(binary->a);
      if (left_moves && uses_loops(binary->b)) throw NotAffine{"it multiplies loop variables"};
      const PrimExpr& factor = left_moves ? binary->b : binary->a;
      IterSum sum = parse(left_moves ? binary->a : binary->b);
      for (IterSplit& digit : sum.args) digit.scale = analyzer_.simplify(digit.scale * factor);
      sum.base = analyzer_.simplify(sum.base * factor);
      return sum;
    }
    case Kind::kFloorDiv:
    case Kind::kFloorMod:
      if (uses_loops(binary->b)) throw NotAffine{"it divides by a loop variable"};
      return divide(binary->a, binary->b, expr->kind == Kind::kFloorMod);
    default: throw NotAffine{"it is not made of +, -, *, // and % of loop variables"};
  }
}

// Divides a digit, which gives two digits if the divisor divides its extent; the remainder of the base must
// not carry.
IterSum IterParser::divide(const PrimExpr& value, const PrimExpr& divisor, bool wants_remainder) {
  IterSum sum = parse(value);
  const PrimExpr zero = make_const_int(value->dtype, 0), one = make_const_int(value->dtype, 1);
  if (!analyzer_.can_prove(divisor > 0)) throw NotAffine{"it divides by something that may not be positive"};
  if (!is_multiple(sum.base, divisor))
    throw NotAffine{"it divides a sum whose start is not a multiple of the divisor"};
  const PrimExpr base = wants_remainder ? zero : analyzer_.simplify(floordiv(sum.base, divisor));
  // digits that are multiples of the divisor are divided separately
  std::vector<IterSplit> whole, rest;
  for (IterSplit& digit : sum.args) (is_multiple(digit.scale, divisor) ? whole : rest).push_back(digit);
  for (IterSplit& digit : whole) digit.scale = analyzer_.simplify(floordiv(digit.scale, divisor));
  IterSum result{wants_remainder ? std::vector<IterSplit>{} : whole, base};
  const auto fused = fuse(std::move(rest));
  if (!fused) return result;
  if (!analyzer_.can_prove(fused->scale > 0)) throw NotAffine{"it divides a loop that runs backwards"};
  if (!is_multiple(divisor, fused->scale))
    throw NotAffine{"it divides a stride that neither divides the divisor nor is divided by it"};
  const PrimExpr step = analyzer_.simplify(floordiv(divisor, fused->scale));  // in units of the digit
  if (analyzer_.can_prove(fused->extent <= step)) {
    if (wants_remainder) result.args.push_back(*fused);
    return result;
  }
  if (!is_multiple(fused->extent, step))
    throw NotAffine{"it divides a loop whose extent is not a multiple of the divisor"};
  IterSplit digit = *fused;
  if (wants_remainder) {
    digit.extent = step;
  } else {
    digit.lower_factor = analyzer_.simplify(digit.lower_factor * step);
    digit.extent = analyzer_.simplify(floordiv(digit.extent, step));
    digit.scale = one;
  }
  result.args.push_back(std::move(digit));
  return result;
}

// Replaces digits that together are k times a constrained sum by k times the mark of that sum.
std::vector<IterSplit> IterParser::with_constrained_marks(std::vector<IterSplit> digits) {
  for (const IterMark* mark : constrained_) {
    if (mark->var) continue;
    std::vector<IterSplit> rest = digits;
    PrimExpr factor;
    bool is_whole = true;
    for (const IterSplit& wanted : mark->fused.args) {
      auto it = std::find_if(rest.begin(), rest.end(),
                             [&](const IterSplit& d) { return same_digit(d, wanted, analyzer_); });
      if (it == rest.end()) {
        is_whole = false;
        break;
      }
      if (!factor) factor = analyzer_.simplify(floordiv(it->scale, wanted.scale));
      if (!equal(it->scale, factor * wanted.scale)) is_whole = false;
      rest.erase(it);
    }
    if (!is_whole || !factor) continue;
    rest.push_back({mark, make_const_int(factor->dtype, 1), mark->extent, factor});
    digits = std::move(rest);
  }
  return digits;
}

std::optional<IterSplit> IterParser::fuse(std::vector<IterSplit> digits) {
  digits = with_constrained_marks(std::move(digits));
  std::erase_if(digits, [&](const IterSplit& digit) { return is_one(digit.extent); });
  if (digits.empty()) return std::nullopt;
  if (digits.size() == 1) return digits[0];
  // the innermost digit has the smallest stride; each next stride is the previous one times its extent
  std::vector<IterSplit> chain;
  auto constant_scale = [](const IterSplit& digit) {
    int64_t value;
    return as_const_int(digit.scale, &value) ? value : INT64_MAX;
  };
  auto first = std::min_element(digits.begin(), digits.end(), [&](const IterSplit& a, const IterSplit& b) {
    return constant_scale(a) < constant_scale(b);
  });
  if (constant_scale(*first) == INT64_MAX) {
    first = std::find_if(digits.begin(), digits.end(), [&](const IterSplit& candidate) {
      return std::all_of(digits.begin(), digits.end(),
                         [&](const IterSplit& d) { return is_multiple(d.scale, candidate.scale); });
    });
    if (first == digits.end()) throw NotAffine{"its strides cannot be ordered"};
  }
  chain.push_back(*first);
  digits.erase(first);
  PrimExpr extent = chain[0].extent;
  const PrimExpr scale = chain[0].scale;
  while (!digits.empty()) {
    const PrimExpr expected = analyzer_.simplify(extent * scale);
    auto next = std::find_if(digits.begin(), digits.end(),
                             [&](const IterSplit& digit) { return equal(digit.scale, expected); });
    if (next == digits.end()) throw NotAffine{"its strides leave gaps or overlap"};
    IterSplit digit = *next;
    digit.scale = extent;
    extent = analyzer_.simplify(extent * digit.extent);
    chain.push_back(std::move(digit));
    digits.erase(next);
  }
  chain[0].scale = make_const_int(scale->dtype, 1);
  std::reverse(chain.begin(), chain.end());
  const IterMark* mark = fused_mark(std::move(chain), extent);
  return IterSplit{mark, make_const_int(scale->dtype, 1), mark->extent, scale};
}

const IterMark* IterParser::fused_mark(std::vector<IterSplit> digits, const PrimExpr& extent) {
  for (const IterMark& mark : map_->marks) {
    if (mark.var || mark.fused.args.size() != digits.size()) continue;
    const bool is_same =
        std::equal(digits.begin(), digits.end(), mark.fused.args.begin(),
                   [&](const IterSplit& a, const IterSplit& b) { return same_digit(a, b, analyzer_); });
    if (is_same) return &mark;
  }
  IterSum sum{std::move(digits), make_const_int(extent->dtype, 0)};
  map_->marks.push_back({nullptr, nullptr, std::move(sum), extent});
  return &map_->marks.back();
}

// ---- predicates

void IterParser::constrain(const PrimExpr& predicate) {
  std::vector<PrimExpr> parts = conjuncts(predicate);
  // conditions on single loops first, so that fused sums use the shortened loops
  auto num_loops = [&](const PrimExpr& part) {
    std::set<const Object*> loops;
    any_node(part, [&](const Object* node) {
      if (node->kind == Kind::kVar && mark_of(static_cast<const VarNode*>(node))) loops.insert(node);
      return false;
    });
    return loops.size();
  };
  const auto middle =
      std::partition(parts.begin(), parts.end(), [&](const PrimExpr& part) { return num_loops(part) <= 1; });
  for (auto part = parts.begin(); part != middle; ++part) constrain_one(*part);
  for (auto part = middle; part != parts.end(); ++part) constrain_one(*part);
}

void IterParser::constrain_one(const PrimExpr& part) {
  if (const auto* call = part.as<CallNode>(); call && call->args.size() == 1)
    return constrain(call->args[0]);  // likely(...)
  const auto* compare = part.as<BinaryOpNode>();
  if (!compare || !is_index(compare->a->dtype))
    throw NotAffine{"the predicate is not a comparison of integers"};
  const PrimExpr &a = compare->a, &b = compare->b;
  switch (part->kind) {
    case Kind::kLT: return constrain_upper(a - b, make_const_int(a->dtype, 0));
    case Kind::kLE: return constrain_upper(a - b, make_const_int(a->dtype, 1));
    case Kind::kGT: return constrain_upper(b - a, make_const_int(a->dtype, 0));
    case Kind::kGE: return constrain_upper(b - a, make_const_int(a->dtype, 1));
    default: throw NotAffine{"the predicate is not an inequality"};
  }
}

// value < bound: the fused digits of the value only run up to bound - base.
void IterParser::constrain_upper(const PrimExpr& value, const PrimExpr& bound) {
  IterSum sum = parse(analyzer_.simplify(value));
  const auto fused = fuse(sum.args);
  if (!fused) return;  // no loop is involved
  int64_t scale;
  const bool is_positive =
      as_const_int(fused->scale, &scale) ? scale > 0 : analyzer_.can_prove(fused->scale > 0);
  if (!is_positive) throw NotAffine{"the predicate bounds a loop from below"};
  // scale * digit + base < bound  =>  digit < ceil((bound - base) / scale)
  const PrimExpr limit = analyzer_.simplify(ceildiv(bound - sum.base, fused->scale));
  if (analyzer_.can_prove(fused->extent <= limit)) return;
  if (!is_one(fused->lower_factor) || !equal(fused->extent, fused->source->extent))
    throw NotAffine{"the predicate bounds a part of a loop"};
  const bool is_part_of_another =
      std::any_of(map_->marks.begin(), map_->marks.end(), [&](const IterMark& mark) {
        return std::any_of(mark.fused.args.begin(), mark.fused.args.end(),
                           [&](const IterSplit& digit) { return digit.source == fused->source; });
      });
  if (is_part_of_another) throw NotAffine{"the predicate bounds a loop and a sum of that loop"};
  const bool is_below = analyzer_.can_prove(limit <= fused->extent);
  for (IterMark& mark : map_->marks) {
    if (&mark != fused->source) continue;
    mark.extent = is_below ? limit : analyzer_.simplify(min(limit, mark.extent));
    constrained_.push_back(&mark);
  }
}

}  // namespace tilewright::arith
