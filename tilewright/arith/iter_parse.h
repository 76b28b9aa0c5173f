// Parses expressions to sums of digits for iterator maps, and fuses sums to single digits of fused marks.
#pragma once
#include <optional>

#include "tilewright/arith/iter_map.h"

namespace tilewright::arith {

/// Thrown inside this layer if an expression has no normal form; `reason` calls the expression "it".
struct NotAffine {
  std::string reason;
};

class IterParser {
 public:
  /// Creates marks in `map`.  The analyzer must know the ranges and the predicate.
  IterParser(const IterRanges& ranges, IterMap* map, Analyzer& analyzer);

  /// Restricts loops and fused sums by a condition on them; throws NotAffine if the condition has no
  /// supported form.
  void constrain(const PrimExpr& predicate);
  /// `expr` as a sum of digits; throws NotAffine.
  IterSum parse(const PrimExpr& expr);
  /// The sum of the digits (without base) as one digit, of a fused mark if there are several; nullopt without
  /// digits. Throws NotAffine if the digits leave gaps or overlap.
  std::optional<IterSplit> fuse(std::vector<IterSplit> digits);
  /// Marks whose extent a predicate has reduced.
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

/// The operands of a conjunction, of which a < min(b, c) is one of two; none for a null or true predicate.
std::vector<PrimExpr> conjuncts(const PrimExpr& predicate);

}  // namespace tilewright::arith
