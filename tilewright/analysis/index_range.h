// The values that an index expression takes while some variables run over their ranges.
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

/// What is known while an expression is bounded.
struct IndexScope {
  /// Variables that are not fixed: their values, or nothing when those are unknown.
  std::unordered_map<const VarNode*, std::optional<IndexRange>> domains;
  /// Buffers whose elements change or are not there outside: a load of one has an unknown value.
  std::unordered_set<const BufferNode*> unstable;

  /// Lets `var` run over [min, min + extent), whose bounds may use other variables of the scope.
  void add_loop(const VarNode* var, const PrimExpr& min, const PrimExpr& extent);
};

/// A range that holds every value of `expr`, written without the variables of `scope`; nothing when there is
/// none. Exact for sums of distinct variables times constants; else it may be too large, never too small. An
/// expression without any of them is its own single value, the same object.  Vectors give the hull of their
/// lanes.
std::optional<IndexRange> index_range(const PrimExpr& expr, const IndexScope& scope);

/// The smallest range that holds both, as far as their bounds can be compared.
IndexRange hull(const IndexRange& a, const IndexRange& b);

/// b - a when that is a constant for a reason visible in the sums (a = x + 3, b = x + 5: 2).
std::optional<int64_t> const_difference(const PrimExpr& a, const PrimExpr& b);

}  // namespace tilewright::analysis
