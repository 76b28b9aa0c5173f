// Knowledge: scopes, bindings and conditions that hold.
#include "tilewright/arith/state.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "tilewright/tir/arithmetic.h"

namespace tilewright::arith {

size_t Analyzer::State::open_scope() {
  scopes_.push_back({undo_.size(), facts.size(), epoch});
  return scopes_.size() - 1;
}

void Analyzer::State::close_scope(size_t mark) {
  TILEWRIGHT_CHECK(mark + 1 == scopes_.size(),
                   "scopes of an analyzer must end in the reverse order of their begin");
  const ScopeMark& scope = scopes_.back();
  while (undo_.size() > scope.num_undo) {
    Undo& undo = undo_.back();
    if (undo.id == kNone)
      facts[undo.fact].is_active = true;
    else
      knowledge_[undo.id] = undo.old;
    undo_.pop_back();
  }
  facts.resize(scope.num_facts);
  epoch = scope.epoch;
  scopes_.pop_back();
}

const Knowledge& Analyzer::State::knowledge(Id id) const {
  static const Knowledge nothing;
  if (knowledge_.empty()) return nothing;
  auto it = knowledge_.find(id);
  return it == knowledge_.end() ? nothing : it->second;
}

void Analyzer::State::set_knowledge(Id id, Knowledge known) {
  Knowledge& slot = knowledge_[id];
  if (!scopes_.empty()) undo_.push_back({id, 0, slot});
  slot = std::move(known);
  epoch = ++last_epoch_;
}

void Analyzer::State::set_bounds(Id id, ConstBounds known) {
  const ConstBounds before = bounds(id), now = intersect(before, known);
  if (now == before) return;
  Knowledge changed = knowledge(id);
  changed.bounds = now;
  set_knowledge(id, changed);
}

// Forgets everything known about a variable that is bound again.
void Analyzer::State::forget(Id var) {
  std::unordered_set<Id> mentioning{var};
  for (Id id = var + 1; id < terms.size(); ++id) {  // operands of a term have smaller numbers than the term
    const auto args = terms.args(id);
    if (std::any_of(args.begin(), args.end(), [&](const Arg& arg) { return mentioning.count(arg.id) > 0; }))
      mentioning.insert(id);
  }
  for (Id id : mentioning) {
    if (knowledge_.count(id)) set_knowledge(id, {});
  }
  for (size_t n = 0; n < facts.size(); ++n) {
    const auto& parts = facts[n].form.terms;
    const bool speaks_of_var = std::any_of(parts.begin(), parts.end(),
                                           [&](const Arg& part) { return mentioning.count(part.id) > 0; });
    if (!facts[n].is_active || !speaks_of_var) continue;
    facts[n].is_active = false;
    if (!scopes_.empty()) undo_.push_back({kNone, n, {}});
  }
  epoch = ++last_epoch_;
}

namespace {
Id variable_term(TermTable& terms, const VarNode* var) {
  return terms.intern(Op::kVar, var->dtype, {}, 0, ObjectRef(var));
}
}  // namespace

void Analyzer::State::bind_range(const VarNode* var, Id min, Id extent) {
  const size_t num_terms = terms.size();
  const Id id = variable_term(terms, var);
  if (id < num_terms) forget(id);
  if (!is_index(var->dtype)) return;
  const Linear value{{{id, 1}}, 0}, first = terms.linear(min), count = terms.linear(extent);
  learn_ge0(value - first);
  learn_ge0(shifted(first + count - value, -1));
}

void Analyzer::State::bind_value(const VarNode* var, Id value) {
  const size_t num_terms = terms.size();
  const Id id = variable_term(terms, var);
  if (id < num_terms) forget(id);
  Knowledge known;
  known.replacement = value;
  set_knowledge(id, known);
}

void Analyzer::State::bind_equal(const VarNode* var, Id value) {
  const size_t num_terms = terms.size();
  const Id id = variable_term(terms, var);
  if (id < num_terms) forget(id);
  if (!is_index(var->dtype) || terms[value].dtype != var->dtype) return;
  const Linear difference = Linear{{{id, 1}}, 0} - terms.linear(value);
  learn_ge0(difference);
  learn_ge0(scaled(difference, -1));
}

namespace {
// A consequence of form >= 0 without the division x // c, which is replaced by its bound: x / c at most, or
// (x - c + 1) / c at least.
std::optional<Linear> without_division(const TermTable& terms, const Linear& form) {
  for (const Arg& part : form.terms) {
    if (terms[part.id].op != Op::kFloorDiv) continue;
    const Term& divisor = terms[terms.arg(part.id, 1)];
    if (divisor.op != Op::kConst || divisor.value <= 0) continue;
    const Linear value = terms.linear(terms.arg(part.id, 0));
    const Linear rest = add_scaled(form, {{{part.id, 1}}, 0}, -part.coeff);
    return add_scaled(scaled(rest, divisor.value), part.coeff > 0 ? value : shifted(value, 1 - divisor.value),
                      part.coeff);
  }
  return std::nullopt;
}
}  // namespace

// Adds the fact form >= 0.
void Analyzer::State::learn_ge0(Linear form) {
  if (!form.is_exact || form.is_const()) return;
  const int64_t divisor = content(form);
  form.constant = floordiv_int(form.constant, divisor) * divisor;
  form = divided(std::move(form), divisor);
  if (form.terms.size() == 1) {
    const Arg part = form.terms[0];  // +-term + constant >= 0
    if (part.coeff > 0) return set_bounds(part.id, {-form.constant, kPosInf});
    return set_bounds(part.id, {kNegInf, form.constant});
  }
  if (const auto weaker = without_division(terms, form)) learn_ge0(*weaker);
  // a bound of one term from the constant bounds of the other terms
  facts.push_back({form, true});
  epoch = ++last_epoch_;
  for (const Arg& part : form.terms) {
    if (part.coeff != 1 && part.coeff != -1) continue;
    Linear others = form;
    std::erase_if(others.terms, [&](const Arg& arg) { return arg.id == part.id; });
    const int64_t most = bounds(others).max;  // coeff * term >= -others >= -most
    if (most == kPosInf || most == kNegInf) continue;
    set_bounds(part.id, part.coeff > 0 ? ConstBounds{-most, kPosInf} : ConstBounds{kNegInf, most});
  }
}

void Analyzer::State::learn(Id condition, bool truth) {
  const Term term = terms[condition];
  if (term.op == Op::kConst) return;
  if (term.op == Op::kNot) return learn(terms.arg(condition, 0), !truth);
  if ((term.op == Op::kAnd && truth) || (term.op == Op::kOr && !truth)) {
    const Id a = terms.arg(condition, 0), b = terms.arg(condition, 1);
    learn(a, truth);
    return learn(b, truth);
  }
  Knowledge known = knowledge(condition);
  known.truth = truth;
  set_knowledge(condition, known);
  const auto* op = term.kind == Kind::kCall ? term.object.as<OpNode>() : nullptr;
  if (op && op->name == "tir.likely") return learn(terms.arg(condition, 0), truth);
  if (term.op == Op::kGE0) {
    const Linear form = terms.linear(terms.arg(condition, 0));
    return learn_ge0(truth ? form : shifted(scaled(form, -1), -1));
  }
  if (term.op != Op::kEQ0) return;
  const Linear form = terms.linear(terms.arg(condition, 0));
  if (truth) {
    learn_ge0(form);
    learn_ge0(scaled(form, -1));
    return learn_remainder(form);
  }
  // term != an end of its range shortens the range
  if (form.terms.size() != 1 || std::abs(form.terms[0].coeff) != 1) return;
  const int64_t excluded = -form.constant * form.terms[0].coeff;
  const ConstBounds around = bounds(form.terms[0].id);
  if (around.min == excluded) set_bounds(form.terms[0].id, {excluded + 1, kPosInf});
  if (around.max == excluded) set_bounds(form.terms[0].id, {kNegInf, excluded - 1});
}

// x % m - r == 0 also gives the residue of x modulo m
void Analyzer::State::learn_remainder(const Linear& form) {
  if (form.terms.size() != 1 || std::abs(form.terms[0].coeff) != 1) return;
  const Id remainder = form.terms[0].id;
  if (terms[remainder].op != Op::kFloorMod) return;
  const Id value = terms.arg(remainder, 0);
  const Term& modulus = terms[terms.arg(remainder, 1)];
  if (modulus.op != Op::kConst || modulus.value <= 0 || terms[value].op == Op::kSum) return;
  Knowledge known = knowledge(value);
  const int64_t base = floormod_int(-form.constant * form.terms[0].coeff, modulus.value);
  if (known.modular.coeff == 1) {
    known.modular = {modulus.value, base};
  } else if (known.modular.coeff != 0) {
    // both residues hold; combine them if the moduli are coprime
    int64_t both;
    if (std::gcd(known.modular.coeff, modulus.value) != 1 ||
        __builtin_mul_overflow(known.modular.coeff, modulus.value, &both) || both > (int64_t{1} << 20))
      return;
    int64_t start = known.modular.base;
    while (floormod_int(start, modulus.value) != base) start += known.modular.coeff;
    known.modular = {both, start};
  }
  set_knowledge(value, known);
}

}  // namespace tilewright::arith
