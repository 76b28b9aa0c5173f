// Analysis of integer expressions: simpler forms, proofs, bounds.
//   Analyzer analyzer;
//   analyzer.bind(i, make_range(imm(0), n));
//   analyzer.simplify((i * 4 + 3) / 4)   // i
//   analyzer.can_prove(i < n)            // true
// Arithmetic of int32 and int64 is exact: a program whose index arithmetic overflows, or that divides by
// zero, has no meaning.  Other integer types wrap around; only their constants are folded.  No result
// contains a constant that its dtype cannot hold.  Soundness comes first: `proved` is never wrong; `not
// proved` may be.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>

#include "tilewright/tir/tir.h"

namespace tilewright::arith {
using namespace tir;

/// True for int32 and int64 scalars, which are analysed as integers that do not overflow.
constexpr bool is_index(DataType dtype) { return dtype == kInt32 || dtype == kInt64; }

/// The ends of ConstBounds that mean "no bound".
inline constexpr int64_t kNegInf = INT64_MIN, kPosInf = INT64_MAX;

/// min <= value <= max; kNegInf and kPosInf mean no bound.  Bounds saturate, they never wrap.
struct ConstBounds {
  int64_t min = kNegInf, max = kPosInf;
  bool is_const() const { return min == max; }
  bool is_bounded() const { return min != kNegInf && max != kPosInf; }
  bool contains(int64_t value) const { return min <= value && value <= max; }
  friend bool operator==(const ConstBounds&, const ConstBounds&) = default;
};

/// value == base (mod coeff), 0 <= base < coeff; coeff 1: nothing is known, coeff 0: value == base.
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

  // Knowledge about variables holds until the end of the innermost Scope, or as long as the analyzer lives.

  /// `var` is one of min, min + 1, ..., min + extent - 1.  The range may be symbolic and is taken to be
  /// non-empty, since otherwise nothing runs.  Binding a variable again replaces earlier knowledge.
  void bind(const Var& var, const Range& range);
  /// Replaces `var` by `value` from now on.
  void bind(const Var& var, PrimExpr value);
  /// Assumes that `condition` holds, e.g. `n >= 0` for a symbolic extent.
  void require(const PrimExpr& condition);

  /// Everything that is bound, required or assumed during the lifetime of a Scope is forgotten at its end.
  /// Scopes must end in the reverse order of their begin.
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

  /// An expression of equal value and dtype that is not more complex; `expr` itself if it is simplified
  /// already. Equal sums, and expressions that are equal up to the order of commutative operands, get the
  /// same form from one analyzer.
  PrimExpr simplify(const PrimExpr& expr);
  /// True only if `condition` (bool) holds for all values that bindings and assumptions allow.
  bool can_prove(const PrimExpr& condition);
  /// True only if a == b always.
  bool can_prove_equal(const PrimExpr& a, const PrimExpr& b);
  /// Constant bounds of an integer (or bool: 0 or 1) expression; {kNegInf, kPosInf} for anything else.
  ConstBounds const_bounds(const PrimExpr& expr);
  /// The residue class that all values of `expr` belong to.
  ModularSet modular_set(const PrimExpr& expr);

  /// The internal state; private to this layer.
  struct State;
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

/// `expr` simplified without any knowledge of its variables.
PrimExpr simplify(const PrimExpr& expr);

/// The program with every expression simplified under the enclosing loop ranges, block axis domains, lets and
/// conditions.  Removes branches that are never taken, loops that never run and lets of constants.  Returns
/// the same object if nothing changes.
Stmt simplify(const Stmt& stmt);
Stmt simplify(const Stmt& stmt, Analyzer& analyzer);
/// The same for a function; extents of its parameters' buffers are assumed to be >= 0.
PrimFunc simplify(const PrimFunc& func);

}  // namespace tilewright::arith
