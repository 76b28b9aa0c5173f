// What can be known of integer expressions: simpler forms, proofs, bounds.
//   Analyzer analyzer;
//   analyzer.bind(i, make_range(imm(0), n));
//   analyzer.simplify((i * 4 + 3) / 4)   // i
//   analyzer.can_prove(i < n)            // true
// Arithmetic of int32 and int64 is exact: a program whose index arithmetic overflows has no meaning, as has
// one that divides by zero.  Other integer types wrap and are only folded.  No result holds a constant that
// its dtype cannot. Sound before strong: `proved` is never wrong; `not proved` may be.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>

#include "tilewright/tir/tir.h"

namespace tilewright::arith {
using namespace tir;

/// int32 and int64 scalars: what is analyzed as integers that do not overflow.
constexpr bool is_index(DataType dtype) { return dtype == kInt32 || dtype == kInt64; }

/// What ConstBounds says where nothing is known.
inline constexpr int64_t kNegInf = INT64_MIN, kPosInf = INT64_MAX;

/// min <= value <= max; kNegInf and kPosInf mean no bound.  Bounds saturate, they never wrap.
struct ConstBounds {
  int64_t min = kNegInf, max = kPosInf;
  bool is_const() const { return min == max; }
  bool is_bounded() const { return min != kNegInf && max != kPosInf; }
  bool contains(int64_t value) const { return min <= value && value <= max; }
  friend bool operator==(const ConstBounds&, const ConstBounds&) = default;
};

/// value == base (mod coeff), 0 <= base < coeff; coeff 1 says nothing, coeff 0 says value == base.
struct ModularSet {
  int64_t coeff = 1, base = 0;
  friend bool operator==(const ModularSet&, const ModularSet&) = default;
};

class Analyzer {
 public:
  Analyzer();
  ~Analyzer();
  Analyzer(const Analyzer&) = delete;
  Analyzer& operator=(const Analyzer&) = delete;

  // What is said of variables holds until the end of the innermost Scope, or as long as the analyzer lives.

  /// `var` is one of min, min + 1, ..., min + extent - 1.  The range may be symbolic; it holds at least one
  /// value, since otherwise nothing is executed.  Binding a variable again replaces what was known.
  void bind(const Var& var, const Range& range);
  /// `var` stands for `value` and is replaced by it.
  void bind(const Var& var, PrimExpr value);
  /// `condition` holds, e.g. `n >= 0` for a symbolic extent.
  void require(const PrimExpr& condition);

  /// What is bound, required or assumed while a Scope lives is forgotten at its end.  Scopes end in the
  /// reverse order of their begin.
  class [[nodiscard]] Scope {
   public:
    Scope(Scope&& other) noexcept : analyzer_(std::exchange(other.analyzer_, nullptr)), mark_(other.mark_) {}
    Scope& operator=(Scope&&) = delete;
    ~Scope();

   private:
    friend class Analyzer;
    Scope(Analyzer* analyzer, size_t mark) : analyzer_(analyzer), mark_(mark) {}
    Analyzer* analyzer_;
    size_t mark_;
  };
  Scope enter();
  /// enter() and require(condition).
  Scope assume(const PrimExpr& condition);

  /// An expression of equal value and dtype that is no more complex; `expr` itself if it is already in this
  /// form. Equal sums, and equal expressions up to the order of commutative operands, get the same form from
  /// one analyzer.
  PrimExpr simplify(const PrimExpr& expr);
  /// True only if `condition` (bool) holds for all values that bindings and assumptions allow.
  bool can_prove(const PrimExpr& condition);
  /// True only if a == b always.
  bool can_prove_equal(const PrimExpr& a, const PrimExpr& b);
  /// Constants around an integer (or bool: 0 or 1) expression; {kNegInf, kPosInf} for anything else.
  ConstBounds const_bounds(const PrimExpr& expr);
  /// What all values of `expr` have in common modulo some number.
  ModularSet modular_set(const PrimExpr& expr);

  /// The state behind; private to this layer.
  struct State;
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

/// `expr` simplified when nothing is known of its variables.
PrimExpr simplify(const PrimExpr& expr);

/// The program with every expression simplified under the loop ranges, block axis domains, lets and
/// conditions around it.  Branches that are never taken, loops that never run and lets of constants go.  The
/// same object if nothing changes.
Stmt simplify(const Stmt& stmt);
Stmt simplify(const Stmt& stmt, Analyzer& analyzer);
/// The same for a function; extents of its parameters' buffers are known to be >= 0.
PrimFunc simplify(const PrimFunc& func);

}  // namespace tilewright::arith
