// Fixes some parameters of a loop program.
#pragma once
#include <utility>
#include <vector>

#include "tilewright/tir/tir.h"

namespace tilewright::analysis {

/// `func` with values for parameters: a number or expression for a scalar or a variable of its shapes, or a
/// buffer for a buffer parameter, which takes over its extents, strides and offset.  Scalar parameters with a
/// value are removed from the parameters.  Raises UserError for a variable that is not a parameter, a value
/// of another dtype, a buffer of another dtype or number of dimensions, and for two values of one variable.
tir::PrimFunc specialize(const tir::PrimFunc& func,
                         const std::vector<std::pair<tir::Var, ir::ObjectRef>>& values);

}  // namespace tilewright::analysis
