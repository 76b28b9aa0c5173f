// The accesses to one buffer in program order, each with its surrounding steps, and the elements that a store
// surely writes (as opposed to those that it may write).
#pragma once
#include "tilewright/arith/int_set.h"
#include "tilewright/arith/iter_map.h"

namespace tilewright::analysis {
using namespace tir;

/// A step on the path to an access: a loop (has `var`), a condition (has `condition`), or one of several
/// parts of a statement that run one after the other.
struct Step {
  const Object* stmt = nullptr;
  size_t part = 0;  // number of parts of `stmt` that run before
  Var var{};
  Range range{};
  PrimExpr condition{};
  /// True if `condition` states that reduce axes are at their first value: the guard of an init that became a
  /// statement.
  bool is_start = false;
};

/// A read or write of one element in each iteration of the loops on `path` for which its conditions hold.
struct PlacedAccess {
  bool is_write = false;
  std::vector<PrimExpr> indices;  // in terms of loop variables, with axes and lets replaced; null: unknown
  std::vector<Step> path;         // outermost first
  bool has_known_indices() const;
};

/// True if the value of an index or condition depends only on variables, not on memory.
bool can_be_followed(const PrimExpr& expr);

/// All accesses to `buffer` in `stmt`, whose free variables are fixed.  A block that passes on the buffer's
/// pointer, or has a view of it, accesses the regions it declares; inits are ignored.  Writes that cannot be
/// analysed have unknown indices.
std::vector<PlacedAccess> accesses_in_order(const Stmt& stmt, const Buffer& buffer);

/// A store that is executed for every value of `loops` for which `predicate` holds.
struct SureStore {
  std::vector<PrimExpr> indices;
  arith::IterRanges loops;
  PrimExpr predicate;
};

/// True only if the store writes every element of `needed`, given the knowledge of `analyzer` about other
/// variables.
bool writes_all(const SureStore& store, const arith::IntervalRegion& needed, arith::Analyzer& analyzer);

/// True only if no iteration of `loop` reads an element of `buffer` that an earlier iteration wrote, so that
/// each iteration could have a buffer of its own: it has surely written everything that it reads before, or
/// no two iterations access the same element.  `around`: the enclosing loops.  Inits must be statements
/// already.
bool iterations_are_independent(const ForNode* loop, const Buffer& buffer,
                                const std::vector<const ForNode*>& around);
/// True only if no two iterations of `loop` access the same element of `buffer`.
bool iterations_are_disjoint(const ForNode* loop, const Buffer& buffer,
                             const std::vector<const ForNode*>& around);

}  // namespace tilewright::analysis
