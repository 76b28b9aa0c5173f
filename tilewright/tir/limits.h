// The smallest and largest values of a dtype.
#pragma once
#include "tilewright/tir/tir.h"

namespace tilewright::tir {

/// The smallest finite value of a scalar dtype, e.g. -65504 for float16; raises UserError for a dtype that is
/// not numeric.  Reductions start at builder.h's min_value instead, which is -inf for floats.
PrimExpr lowest_finite(DataType dtype);
/// The largest finite value.
PrimExpr largest_finite(DataType dtype);
/// inf of a float dtype; raises UserError for other dtypes.
PrimExpr infinity(DataType dtype);

}  // namespace tilewright::tir
