// Matches and applies rules: goals `part of a pattern = sum` are solved one by one, with backtracking.
#include "tilewright/arith/rule.h"

#include <algorithm>
#include <numeric>

#include "tilewright/arith/state.h"

namespace tilewright::arith {
namespace {

using P = PatternNode;

struct Bindings {
  std::array<Id, 4> vars{kNone, kNone, kNone, kNone}, conditions{kNone, kNone, kNone, kNone};
  std::array<std::optional<int64_t>, 4> consts;
};

// The goal: sum of scale * pattern part == target.  With `may_leave_rest`, target terms may be left over.
struct Goal {
  struct Part {
    int64_t scale;
    uint8_t node;
  };
  std::vector<Part> parts;
  Linear target;
  bool may_leave_rest = false;
  // for a condition: the pattern has one part, and the target is this term
  Id condition = kNone;
};

class Matcher {
 public:
  Matcher(Analyzer::State& state, const Pattern& pattern, DataType dtype)
      : state_(state), pattern_(pattern), dtype_(dtype) {}

  bool match(Id id) { return solve({goal_for(pattern_.root(), id)}); }
  bool match_in_sum(const Linear& form, int64_t scale) {
    Goal goal{{{scale, pattern_.root()}}, form, true, kNone};
    return solve({std::move(goal)});
  }

  Bindings bindings;
  Linear rest;
  int fuel = 200;

 private:
  const PatternNode& node(uint8_t place) const { return pattern_.nodes[place]; }
  bool is_condition(uint8_t place) const {
    const P::Op op = node(place).op;
    return op == P::kCondition || (op >= P::kLT && op <= P::kNot);
  }
  Goal goal_for(uint8_t place, Id id) {
    if (is_condition(place)) return {{{1, place}}, {}, false, id};
    return {{{1, place}}, state_.terms.linear(id), false, kNone};
  }

  // Tries all solutions of the last goal, each followed by the other goals.
  bool solve(std::vector<Goal> goals, size_t num_postponed = 0);
  bool solve_condition(const Goal& goal, const std::vector<Goal>& others);
  bool solve_compare(const Goal& goal, const std::vector<Goal>& others);
  bool solve_structured(const Goal& goal, size_t part, const std::vector<Goal>& others);
  bool solve_names(Goal goal, std::vector<Goal> others, size_t num_postponed);
  void expand(Goal* goal);
  std::optional<int64_t> known_constant(uint8_t place) const;

  bool with(std::vector<Goal> goals, Goal more) {
    goals.push_back(std::move(more));
    return solve(std::move(goals));
  }

  Analyzer::State& state_;
  const Pattern& pattern_;
  DataType dtype_;
};

Op term_op(P::Op op) {
  switch (op) {
    case P::kFloorDiv: return Op::kFloorDiv;
    case P::kFloorMod: return Op::kFloorMod;
    case P::kMin: return Op::kMin;
    case P::kMax: return Op::kMax;
    case P::kMul: return Op::kProduct;
    case P::kAnd: return Op::kAnd;
    case P::kOr: return Op::kOr;
    case P::kNot: return Op::kNot;
    case P::kEQ: return Op::kEQ0;
    case P::kLT:
    case P::kLE: return Op::kGE0;
    default: return Op::kSelect;
  }
}

std::optional<int64_t> Matcher::known_constant(uint8_t place) const {
  if (node(place).op == P::kLiteral) return node(place).value;
  if (node(place).op == P::kConst) return bindings.consts[static_cast<size_t>(node(place).value)];
  return std::nullopt;
}

// Moves known values to the target and expands sums, until only unknown names and structures are left.
void Matcher::expand(Goal* goal) {
  for (size_t n = 0; n < goal->parts.size();) {
    const auto [scale, place] = goal->parts[n];
    const PatternNode& part = node(place);
    Linear known;
    if (part.op == P::kAdd || part.op == P::kSub) {
      goal->parts[n].node = part.a;
      goal->parts.push_back({part.op == P::kAdd ? scale : -scale, part.b});
      continue;
    }
    if (part.op == P::kMul) {
      const auto left = known_constant(part.a), right = known_constant(part.b);
      int64_t product;
      if ((left || right) && !__builtin_mul_overflow(scale, left ? *left : *right, &product)) {
        goal->parts[n] = {product, left ? part.b : part.a};
        continue;
      }
    }
    if (auto constant = known_constant(place)) {
      known.constant = *constant;
    } else if (part.op == P::kVar && bindings.vars[static_cast<size_t>(part.value)] != kNone) {
      known = state_.terms.linear(bindings.vars[static_cast<size_t>(part.value)]);
    } else {
      ++n;
      continue;
    }
    goal->target = add_scaled(goal->target, known, -scale);
    goal->parts.erase(goal->parts.begin() + static_cast<ptrdiff_t>(n));
  }
}

bool Matcher::solve(std::vector<Goal> goals, size_t num_postponed) {
  if (goals.empty()) return true;
  if (--fuel < 0) return false;
  Goal goal = std::move(goals.back());
  goals.pop_back();
  if (goal.condition != kNone) return solve_condition(goal, goals);
  expand(&goal);
  if (!goal.target.is_exact) return false;
  for (const Arg& part : goal.target.terms) {  // int32 and int64 terms do not mix in one match
    if (is_index(state_.terms[part.id].dtype) && state_.terms[part.id].dtype != dtype_) return false;
  }
  if (goal.parts.empty()) {
    if (goal.may_leave_rest)
      rest = goal.target;
    else if (!goal.target.is_const() || goal.target.constant != 0)
      return false;
    return solve(std::move(goals));
  }
  for (size_t n = 0; n < goal.parts.size(); ++n) {
    const P::Op op = node(goal.parts[n].node).op;
    if (op != P::kVar && op != P::kConst) return solve_structured(goal, n, goals);
  }
  return solve_names(std::move(goal), std::move(goals), num_postponed);
}

// Solves scale * f(...) == some term of the target with that operator and coefficient.
bool Matcher::solve_structured(const Goal& goal, size_t part, const std::vector<Goal>& others) {
  const auto [scale, place] = goal.parts[part];
  const PatternNode& wanted = node(place);
  for (const Arg& term : goal.target.terms) {
    if (term.coeff != scale || state_.terms[term.id].op != term_op(wanted.op)) continue;
    const size_t count = state_.terms[term.id].count;
    if (count != (wanted.op == P::kSelect ? 3 : 2)) continue;
    Goal remaining = goal;
    remaining.parts.erase(remaining.parts.begin() + static_cast<ptrdiff_t>(part));
    remaining.target = add_scaled(goal.target, {{{term.id, 1}}, 0}, -term.coeff);
    const Bindings before = bindings;
    auto attempt = [&](size_t first, size_t second) {
      bindings = before;
      std::vector<Goal> goals = others;
      goals.push_back(remaining);
      if (wanted.op == P::kSelect) goals.push_back(goal_for(wanted.c, state_.terms.arg(term.id, 2)));
      goals.push_back(goal_for(wanted.b, state_.terms.arg(term.id, second)));
      goals.push_back(goal_for(wanted.a, state_.terms.arg(term.id, first)));
      return solve(std::move(goals));
    };
    if (attempt(0, 1)) return true;
    const bool is_commutative = wanted.op == P::kMin || wanted.op == P::kMax || wanted.op == P::kMul;
    if (is_commutative && attempt(1, 0)) return true;
    bindings = before;
  }
  return false;
}

// Solves k * x + c = target with one unknown variable and at most one unknown constant; otherwise postpones
// the goal.
bool Matcher::solve_names(Goal goal, std::vector<Goal> others, size_t num_postponed) {
  const size_t num_vars = static_cast<size_t>(std::count_if(
      goal.parts.begin(), goal.parts.end(), [&](const auto& part) { return node(part.node).op == P::kVar; }));
  const size_t num_consts = goal.parts.size() - num_vars;
  if (num_vars > 1 || num_consts > 1 || goal.may_leave_rest) {
    if (num_postponed > others.size()) return false;
    others.insert(others.begin(), std::move(goal));
    return solve(std::move(others), num_postponed + 1);
  }
  for (const auto& [scale, place] : goal.parts) {
    if (node(place).op != P::kConst) continue;
    if (goal.target.constant % scale != 0 || (num_vars == 0 && !goal.target.is_const())) return false;
    bindings.consts[static_cast<size_t>(node(place).value)] = goal.target.constant / scale;
    goal.target.constant = 0;
  }
  for (const auto& [scale, place] : goal.parts) {
    if (node(place).op != P::kVar) continue;
    if (scale == 0 || content(goal.target) % scale != 0 || goal.target.constant % scale != 0) return false;
    bindings.vars[static_cast<size_t>(node(place).value)] = state_.sum(divided(goal.target, scale), dtype_);
  }
  return solve(std::move(others));
}

bool Matcher::solve_condition(const Goal& goal, const std::vector<Goal>& others) {
  const PatternNode& wanted = node(goal.parts[0].node);
  const Op op = state_.terms[goal.condition].op;
  if (wanted.op == P::kCondition) {
    Id& bound = bindings.conditions[static_cast<size_t>(wanted.value)];
    if (bound != kNone) return bound == goal.condition && solve(others);
    bound = goal.condition;
    return solve(others);
  }
  if (op != term_op(wanted.op)) return false;
  if (op == Op::kGE0 || op == Op::kEQ0) return solve_compare(goal, others);
  std::vector<Goal> goals = others;
  if (op != Op::kNot) goals.push_back(goal_for(wanted.b, state_.terms.arg(goal.condition, 1)));
  goals.push_back(goal_for(wanted.a, state_.terms.arg(goal.condition, 0)));
  return solve(std::move(goals));
}

// a < b is b - a - 1 >= 0,  a <= b is b - a >= 0,  a == b is b - a == 0 or a - b == 0
bool Matcher::solve_compare(const Goal& goal, const std::vector<Goal>& others) {
  const PatternNode& wanted = node(goal.parts[0].node);
  const Linear form = state_.terms.linear(state_.terms.arg(goal.condition, 0));
  const Bindings before = bindings;
  const int64_t shift = wanted.op == P::kLT ? 1 : 0;
  if (with(others, Goal{{{1, wanted.b}, {-1, wanted.a}}, shifted(form, shift), false, kNone})) return true;
  bindings = before;
  return wanted.op == P::kEQ && with(others, Goal{{{-1, wanted.b}, {1, wanted.a}}, form, false, kNone});
}

// Builds the term of a pattern whose names are all known.
struct Builder {
  Analyzer::State& state;
  const Pattern& pattern;
  const Bindings& bindings;
  DataType dtype;

  Id build(uint8_t place) {
    const PatternNode& node = pattern.nodes[place];
    const auto which = static_cast<size_t>(node.value);
    switch (node.op) {
      case P::kVar: return bindings.vars[which];
      case P::kCondition: return bindings.conditions[which];
      case P::kConst: return state.constant(bindings.consts[which].value(), dtype);
      case P::kLiteral: return state.constant(node.value, dtype);
      case P::kNot: return state.logical_not(build(node.a));
      case P::kSelect: {
        const Id condition = build(node.a), a = build(node.b), b = build(node.c);
        return state.select(condition, a, b);
      }
      default: break;
    }
    const Id a = build(node.a), b = build(node.b);
    auto difference = [&] { return state.terms.linear(b) - state.terms.linear(a); };
    switch (node.op) {
      case P::kAdd: return state.sum(state.terms.linear(a) + state.terms.linear(b), dtype);
      case P::kSub: return state.sum(state.terms.linear(a) - state.terms.linear(b), dtype);
      case P::kMul: return state.product(a, b);
      case P::kFloorDiv: return state.floor_div(a, b);
      case P::kFloorMod: return state.floor_mod(a, b);
      case P::kMin: return state.min_max(true, a, b);
      case P::kMax: return state.min_max(false, a, b);
      case P::kLT: return state.greater_equal_0(shifted(difference(), -1), dtype);
      case P::kLE: return state.greater_equal_0(difference(), dtype);
      case P::kEQ: return state.equal_0(difference(), dtype);
      case P::kAnd: return state.logical_and(a, b);
      case P::kOr: return state.logical_or(a, b);
      default: throw InternalError("a pattern with operator {}", static_cast<int>(node.op));
    }
  }
  Id build() { return build(pattern.root()); }
};

bool guard_holds(Analyzer::State& state, const Rule& rule, const Bindings& bindings, DataType dtype) {
  if (rule.guard.empty()) return true;
  const Term& known = state.terms[Builder{state, rule.guard, bindings, dtype}.build()];
  return known.op == Op::kConst && known.value != 0;
}

// The maximum depth of rules that trigger rules, more than any expression needs.
constexpr int kMaxNesting = 16;
struct Nesting {
  explicit Nesting(Analyzer::State& state) : state(state) { ++state.rule_nesting; }
  ~Nesting() { --state.rule_nesting; }
  Analyzer::State& state;
};

// The dtype of the first integer inside a term; a condition has the dtype of the values it compares.
DataType dtype_inside(const TermTable& terms, Id id, int depth = 8) {
  if (is_index(terms[id].dtype) || depth == 0) return terms[id].dtype;
  for (size_t n = 0; n < terms[id].count; ++n) {
    const DataType found = dtype_inside(terms, terms.arg(id, n), depth - 1);
    if (is_index(found)) return found;
  }
  return kInt32;
}

}  // namespace

std::optional<Id> apply_rules(Analyzer::State& state, RuleTable table, Id id) {
  if (state.rule_nesting >= kMaxNesting) return std::nullopt;
  const Nesting nesting(state);
  const Op op = state.terms[id].op;
  // select(i < n, true, b) has integers in its condition, but its result is a bool
  const DataType dtype = op == Op::kSelect ? state.terms[id].dtype : dtype_inside(state.terms, id);
  for (const Rule& rule : table) {
    if (term_op(rule.left.nodes[rule.left.root()].op) != op) continue;
    Matcher matcher(state, rule.left, dtype);
    if (!matcher.match(id) || !guard_holds(state, rule, matcher.bindings, dtype)) continue;
    const Id result = Builder{state, rule.right, matcher.bindings, dtype}.build();
    if (result != id) return result;
  }
  return std::nullopt;
}

std::optional<Linear> apply_sum_rules(Analyzer::State& state, RuleTable table, const Linear& form, size_t n,
                                      DataType dtype) {
  if (state.rule_nesting >= kMaxNesting) return std::nullopt;
  const Nesting nesting(state);
  const Arg first = form.terms[n];
  for (const Rule& rule : table) {
    const PatternNode& root = rule.left.nodes[rule.left.root()];
    if (term_op(rule.left.nodes[root.a].op) != state.terms[first.id].op) continue;
    Matcher matcher(state, rule.left, dtype);
    if (!matcher.match_in_sum(form, first.coeff) || !guard_holds(state, rule, matcher.bindings, dtype))
      continue;
    const Id result = Builder{state, rule.right, matcher.bindings, dtype}.build();
    return add_scaled(matcher.rest, state.terms.linear(result), first.coeff);
  }
  return std::nullopt;
}

}  // namespace tilewright::arith
