// The axes of the two blocks that rfactor makes of a reduction.
#pragma once
#include "tilewright/ir/rewrite.h"
#include "tilewright/schedule/core/state.h"

namespace tilewright::schedule {

/// The loop that is factored out is the first axis; in the place of each axis that reduces stand the loops
/// that make it up, and spatial axes stay.
struct FactorAxes {
  std::vector<IterVar> partial, combine;
  std::vector<PrimExpr> partial_values;
  Substitution reduce_values;  // old reduce axis -> expression of the new axes
  Var factor, combine_factor;
  Substitution combine_spatial;  // old spatial axis -> axis of the second block
};

/// Divides the axes of the block by the loop that is factored out.  Raises UserError for loops that feed both
/// spatial and reduce axes, or start elsewhere than at 0.
FactorAxes divide_axes(const State& state, NodeId block, NodeId loop);

/// The condition on the variable of the loop for its iterations that have a term, where a guard leaves others
/// without: nobody writes their partial results.  Null if all have terms.  Raises UserError where that is not
/// known.
PrimExpr started_iterations(const State& state, NodeId block, NodeId loop);

}  // namespace tilewright::schedule
