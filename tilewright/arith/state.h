// The state of an Analyzer: the terms, the knowledge about them, and the constructors that build simplified
// terms. One class over several files, by subject: import, export, build_*, bounds, prove, facts.
#pragma once
#include <optional>
#include <string>
#include <unordered_map>

#include "tilewright/arith/term.h"

namespace tilewright::arith {

/// Thrown inside the analyzer if a coefficient leaves the range of its dtype; the expression is then kept
/// unchanged.
struct NotRepresentable {};
/// Thrown inside the analyzer for a call with an effect: its expression may be neither dropped nor repeated.
struct HasEffect {};

inline constexpr Id kNone = UINT32_MAX;
/// Term::value of a kOther term that is one opaque expression, known only by its address.
inline constexpr int64_t kOpaque = INT64_MIN + 1;

/// Everything known about one term from bindings and assumptions.
struct Knowledge {
  ConstBounds bounds;
  ModularSet modular;
  Id replacement = kNone;     // for a variable bound to a value
  std::optional<bool> truth;  // for a condition
};

struct Analyzer::State {
  TermTable terms;

  // ---- import*.cc: expressions to simplified terms
  Id import(const PrimExpr& expr);
  Linear import_linear(const PrimExpr& expr);
  Id variable(const VarNode* var);

  // ---- export.cc: terms to expressions
  PrimExpr export_term(Id id);

  // ---- build_*.cc: the simplified term of a given operation
  Id constant(int64_t value, DataType dtype);
  Id truth_value(bool value) { return constant(value, kBoolType); }
  Id atom(Id id);  // the term itself, or the constant that it is known to equal
  Id sum(const Linear& form, DataType dtype);
  Linear normalized(Linear form, DataType dtype);
  Id product(Id a, Id b);
  Id floor_div(Id a, Id b);
  Id floor_mod(Id a, Id b);
  Id trunc_div_mod(Kind kind, Id a, Id b);
  Id min_max(bool is_min, Id a, Id b);
  Id greater_equal_0(const Linear& form, DataType dtype);
  Id equal_0(const Linear& form, DataType dtype);
  Id logical_and(Id a, Id b);
  Id logical_or(Id a, Id b);
  Id logical_not(Id a);
  Id select(Id condition, Id true_value, Id false_value);
  Id other(Kind kind, DataType dtype, std::span<const Arg> args, const ObjectRef& object = nullptr,
           int64_t value = 0);

  // ---- bounds.cc, modular.cc, prove.cc: derived properties
  ConstBounds bounds(Id id);
  ConstBounds bounds(const Linear& form);
  ModularSet modular(Id id);
  ModularSet modular(const Linear& form);
  /// True only if form >= 0; `fuel` bounds the number of steps.
  bool proves_ge0(const Linear& form, int fuel = kSimplifyFuel);
  /// True only if `condition` holds; tries its parts with more fuel than simplification spends.
  bool proves(Id condition);
  static constexpr int kSimplifyFuel = 24, kProofFuel = 400;

  // ---- facts.cc: knowledge
  void learn(Id condition, bool truth);
  void learn_ge0(Linear form);
  void learn_remainder(const Linear& form);
  void set_bounds(Id id, ConstBounds known);
  void set_knowledge(Id id, Knowledge known);
  const Knowledge& knowledge(Id id) const;
  void bind_range(const VarNode* var, Id min, Id extent);
  void bind_value(const VarNode* var, Id value);
  // the variable is not replaced, but known to equal the value
  void bind_equal(const VarNode* var, Id value);
  void forget(Id var);
  size_t open_scope();
  void close_scope(size_t mark);

  struct Fact {
    Linear form;  // form >= 0
    bool is_active = true;
  };
  std::vector<Fact> facts;

  /// True if `wanted` is part of `id`, or may be part of an opaque term in it.
  bool mentions(Id id, Id wanted) const;

  // identifies the current knowledge; results that were found in an epoch are valid in it
  uint32_t epoch = 1;
  int import_depth = 0;
  int rule_nesting = 0;

 private:
  friend struct Prover;
  Id import_node(const PrimExpr& expr);
  Id import_sum(const PrimExpr& expr);
  Id import_product(const BinaryOpNode* node);
  Id import_binary(Kind kind, DataType dtype, Id a, Id b);
  Id import_compare(Kind kind, const PrimExpr& a, const PrimExpr& b);
  Id compare(Kind kind, const Linear& x, const Linear& y, DataType dtype);
  Id scalar_binary(Kind kind, Id a, Id b);
  Id import_given(Id condition, bool truth, const PrimExpr& expr);
  Id import_logic(const BinaryOpNode* node);
  Id import_select(const PrimExpr& condition, const PrimExpr& a, const PrimExpr& b, const ObjectRef& op);
  Id import_call(const CallNode* call);
  Id import_cast(const CastNode* cast);
  Id import_let(const LetNode* let);
  Id import_let_body(const LetNode* let, Id value);
  Id import_other(const PrimExpr& expr);
  Id import_vector(const PrimExpr& expr);
  Id vector_binary(Kind kind, DataType dtype, Id a, Id b);
  Id ramp(Id base, Id stride, int64_t lanes);
  Id broadcast(Id value, int64_t lanes);
  Id opaque(const PrimExpr& expr);
  Id reconsidered(Id condition);
  Id without_implied(Op op, Id condition, Id given);
  bool is_opaque(Id id) const { return terms[id].op == Op::kOther && terms[id].value == kOpaque; }
  ObjectRef operator_named(const Expr& op);
  Linear div_const(const Linear& form, int64_t divisor, DataType dtype);
  Linear mod_const(const Linear& form, int64_t divisor, DataType dtype);
  Linear symbolic_div(const Linear& form, Id divisor, bool wants_remainder, DataType dtype);
  ConstBounds compute_bounds(Id id);
  ConstBounds other_bounds(Id id);
  PrimExpr make_expr(Id id);
  PrimExpr export_sum(const Linear& form, DataType dtype);
  PrimExpr append_sum(PrimExpr total, const Linear& form, DataType dtype);
  PrimExpr export_quotient(Arg part, int64_t* constant, DataType dtype);
  Id common_factor(const Linear& form) const;
  Linear take_multiples(Id factor, Linear* form);
  PrimExpr export_scaled(Id id, int64_t factor);
  PrimExpr export_compare(Id id, bool is_negated);
  PrimExpr export_other(Id id);

  struct Undo {
    Id id;  // the term whose knowledge changed, or kNone for a fact that was disabled
    size_t fact;
    Knowledge old;
  };
  struct ScopeMark {
    size_t num_undo, num_facts;
    uint32_t epoch;
  };
  std::unordered_map<Id, Knowledge> knowledge_;
  std::vector<Undo> undo_;
  std::vector<ScopeMark> scopes_;
  uint32_t last_epoch_ = 1;
  std::unordered_map<std::string, ObjectRef> operators_;  // one node for each operator name
  struct Imported {
    PrimExpr expr;  // keeps the object alive, so that its address is not reused
    Id id;
    uint32_t epoch;
  };
  std::unordered_map<const Object*, Imported> imported_;  // shared nodes found in this call

 public:
  void end_call() { imported_.clear(); }
};

/// Forgets everything learnt during its lifetime.
class LocalScope {
 public:
  explicit LocalScope(Analyzer::State& state) : state_(state), mark_(state.open_scope()) {}
  LocalScope(const LocalScope&) = delete;
  ~LocalScope() { state_.close_scope(mark_); }

 private:
  Analyzer::State& state_;
  size_t mark_;
};

}  // namespace tilewright::arith
