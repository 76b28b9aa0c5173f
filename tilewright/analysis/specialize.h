// A loop program with some of its parameters fixed.
#pragma once
#include <utility>
#include <vector>

#include "tilewright/tir/tir.h"

namespace tilewright::analysis {

/// `func` with values for parameters: a number or expression for a scalar or a variable of its shapes, a
/// buffer for a buffer parameter, whose extents, strides and offset become those of that buffer.  Scalar
/// parameters that have a value are parameters no more. Raises UserError for a variable that is no parameter,
/// a value of another dtype, a buffer of another dtype or number of dimensions, and for two values of one
/// variable.
tir::PrimFunc specialize(const tir::PrimFunc& func,
                         const std::vector<std::pair<tir::Var, ir::ObjectRef>>& values);

}  // namespace tilewright::analysis
