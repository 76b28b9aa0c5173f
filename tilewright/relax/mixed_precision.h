// Graphs whose matrix products and convolutions are done in another precision.
#pragma once
#include "tilewright/relax/relax.h"

namespace tilewright::relax {

/// What pass to_mixed_precision makes of `module` with these options, products outside of dataflow blocks
/// converted as well.
///
/// dtype      float16 or bfloat16: what is computed in
/// out_dtype  of the sums: float32 or dtype
IRModule to_mixed_precision(const IRModule& module, DataType dtype, DataType out_dtype);

/// `value`, a tensor, with elements of `dtype`.
Expr astype(const Expr& value, DataType dtype);

}  // namespace tilewright::relax
