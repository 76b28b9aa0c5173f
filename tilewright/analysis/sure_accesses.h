// Accesses that a program makes whenever the loops around them run: none that stands under a condition, in a
// branch or after a statement that may leave.
#pragma once
#include <functional>

#include "tilewright/analysis/corner.h"

namespace tilewright::analysis {

/// One dimension of an access.
struct SureAccess {
  const Buffer& buffer;
  size_t dim;
  PrimExpr written;        // the index as it stands in the program
  PrimExpr index, extent;  // by the variables of the loops: axes and lets are replaced by their values
  Span where;              // of the load or store
  const std::vector<RangedVar>& loops;  // around, outermost first
  const PrimExpr& assumption;           // the predicates of the blocks around; null: none

  /// The smallest part of the program that shows the index.
  Span place() const;
};
using SureAccessVisitor = std::function<void(const SureAccess&)>;

void each_sure_access(const Stmt& stmt, const SureAccessVisitor& visit);

}  // namespace tilewright::analysis
