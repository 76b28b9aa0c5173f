// Likely values of the symbolic sizes of a graph, which its plans are best at (arith/likely.h).
#pragma once
#include "tilewright/relax/graph/relax.h"

namespace tilewright::relax {

/// `given`, and the sizes of images that two-dimensional convolutions of `module` read and `given` does not name:
/// GraphCosts::likely_batch images, of GraphCosts::likely_picture rows and columns, or, where the first is a
/// transposed convolution, of LoopCosts::likely_extent.  Raises UserError if `given` names no open dimension of
/// a parameter, has a number below 1, one twice, none, or more than GraphCosts::most_plans in all combinations.
ir::AttrMap likely_sizes(const IRModule& module, ir::AttrMap given);

/// `module` with those of `sizes` that a loop program depends on as its attribute.
IRModule with_likely_sizes(const IRModule& module, const ir::AttrMap& sizes);

}  // namespace tilewright::relax
