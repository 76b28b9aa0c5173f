// The accesses to one buffer in program order, each with what is around it, and what a store surely writes,
// in contrast to what it may write.
#pragma once
#include "tilewright/arith/int_set.h"
#include "tilewright/arith/iter_map.h"

namespace tilewright::analysis {
using namespace tir;

/// A step on the way down to an access: a loop (has `var`), a condition (has `condition`), or one of several
/// parts of a statement that run one after the other.
struct Step {
  const Object* stmt = nullptr;
  size_t part = 0;  // how many parts of `stmt` run before
  Var var{};
  Range range{};
  PrimExpr condition{};
  /// `condition` says that reduce axes are at their start: the guard of an init that became a statement.
  bool is_start = false;
};

/// A read or write of one element for each turn of the loops on `path` for which its conditions hold.
struct PlacedAccess {
  bool is_write = false;
  std::vector<PrimExpr> indices;  // in loop variables: axes and lets have been replaced; null: not known
  std::vector<Step> path;         // outermost first
  bool has_known_indices() const;
};

/// Whether the value of an index or condition depends on variables alone, not on memory.
bool can_be_followed(const PrimExpr& expr);

/// All accesses to `buffer` in `stmt`, whose free variables are fixed.  A block that passes the buffer's
/// pointer on, or has a view of it, accesses what it declares; of an `init` nothing is said.  What is written
/// in a way that cannot be followed has indices that are not known.
std::vector<PlacedAccess> accesses_in_order(const Stmt& stmt, const Buffer& buffer);

/// One store that is executed for every value of `loops` where `predicate` holds.
struct SureStore {
  std::vector<PrimExpr> indices;
  arith::IterRanges loops;
  PrimExpr predicate;
};

/// True only if the store writes every element of `needed`, under what `analyzer` knows of other variables.
bool writes_all(const SureStore& store, const arith::IntervalRegion& needed, arith::Analyzer& analyzer);

/// True only if no turn of `loop` reads an element of `buffer` that an earlier turn wrote, so that each turn
/// could as well have a buffer of its own: all that it reads it has surely written before, or no two turns
/// access the same element.  `around` are loops outside; inits are statements already.
bool turns_are_independent(const ForNode* loop, const Buffer& buffer,
                           const std::vector<const ForNode*>& around);
/// True only if no two turns of `loop` access the same element of `buffer`.
bool turns_are_disjoint(const ForNode* loop, const Buffer& buffer, const std::vector<const ForNode*>& around);

}  // namespace tilewright::analysis
