// The ends of a dtype's range.
#pragma once
#include "tilewright/tir/tir.h"

namespace tilewright::tir {

/// The smallest finite value of a scalar dtype, -65504 of float16; raises UserError for one without numbers.
/// Reductions start at builder.h's min_value instead, which is -inf for floats.
PrimExpr lowest_finite(DataType dtype);
/// The largest finite value.
PrimExpr largest_finite(DataType dtype);
/// inf of a float dtype; raises UserError for another.
PrimExpr infinity(DataType dtype);

}  // namespace tilewright::tir
