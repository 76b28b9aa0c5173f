// The working part of iterator maps: expressions to sums of digits, and sums to single digits of fused marks.
#pragma once
#include <optional>

#include "tilewright/arith/iter_map.h"

namespace tilewright::arith {

/// Thrown inside this layer where an expression has no normal form; `reason` speaks of "it".
struct NotAffine {
  std::string reason;
};

class IterParser {
 public:
  /// Marks are made in `map`.  The analyzer must know the ranges and the predicate.
  IterParser(const IterRanges& ranges, IterMap* map, Analyzer& analyzer);

  /// Restricts loops and fused sums by a condition on them; throws NotAffine if it is none of the known
  /// forms.
  void constrain(const PrimExpr& predicate);
  /// `expr` as a sum of digits; throws NotAffine.
  IterSum parse(const PrimExpr& expr);
  /// The sum of the digits (without base) as one digit, of a fused mark if there are several; no digit:
  /// nothing. Throws NotAffine when the digits leave gaps or overlap.
  std::optional<IterSplit> fuse(std::vector<IterSplit> digits);
  /// Marks whose extent a predicate has cut.
  const std::vector<const IterMark*>& constrained() const { return constrained_; }
  /// The mark of a loop variable, or null.
  const IterMark* mark_of(const VarNode* var) const;

 private:
  IterSum divide(const PrimExpr& value, const PrimExpr& divisor, bool wants_remainder);
  void constrain_one(const PrimExpr& part);
  void constrain_upper(const PrimExpr& value, const PrimExpr& bound);
  std::vector<IterSplit> with_constrained_marks(std::vector<IterSplit> digits);
  const IterMark* fused_mark(std::vector<IterSplit> digits, const PrimExpr& extent);
  bool equal(const PrimExpr& a, const PrimExpr& b) { return analyzer_.can_prove_equal(a, b); }
  bool is_multiple(const PrimExpr& value, const PrimExpr& of);
  bool uses_loops(const PrimExpr& expr) const;

  IterMap* map_;
  Analyzer& analyzer_;
  std::vector<const IterMark*> constrained_;
  int depth_ = 0;
};

/// The conditions that a conjunction consists of; none for a null or true one.
std::vector<PrimExpr> conjuncts(const PrimExpr& predicate);

}  // namespace tilewright::arith
