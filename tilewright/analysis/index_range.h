// The range of values of an index expression while some variables run over their ranges.
#pragma once
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "tilewright/tir/tir.h"

namespace tilewright::analysis {
using namespace tir;

/// The integers min, min + 1, ..., min + width; width >= 0.  A single value has the constant width 0.
struct IndexRange {
  PrimExpr min, width;
  bool is_point() const;
  PrimExpr max() const;
};

/// The variables and buffers that are known while an expression is bounded.
struct IndexScope {
  /// The variables that are not fixed: their values, or nullopt if unknown.
  std::unordered_map<const VarNode*, std::optional<IndexRange>> domains;
  /// Buffers whose elements change, or that do not exist outside: a load from one has an unknown value.
  std::unordered_set<const BufferNode*> unstable;

  /// Lets `var` run over [min, min + extent); the bounds may use other variables of the scope.
  void add_loop(const VarNode* var, const PrimExpr& min, const PrimExpr& extent);
};

/// A range that contains every value of `expr`, written without the variables of `scope`; nullopt if there is
/// none. Exact for sums of distinct variables times constants; otherwise it may be too large, never too
/// small.  An expression without variables of the scope is a single value, returned as the same object.  For
/// vectors, the hull of the lanes.
std::optional<IndexRange> index_range(const PrimExpr& expr, const IndexScope& scope);

/// The smallest range that contains both, as far as their bounds can be compared.
IndexRange hull(const IndexRange& a, const IndexRange& b);

/// b - a if it is constant by the structure of the sums (a = x + 3, b = x + 5: 2).
std::optional<int64_t> const_difference(const PrimExpr& a, const PrimExpr& b);

}  // namespace tilewright::analysis
