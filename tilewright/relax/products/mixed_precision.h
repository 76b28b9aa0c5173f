// Graphs with matrix products and convolutions in another precision.
#pragma once
#include <functional>

#include "tilewright/relax/graph/relax.h"

namespace tilewright::relax {

using CallTest = std::function<bool(const Call&)>;

/// `module` under the policy bf16: operands of float32 products and convolutions, outside of dataflow blocks
/// as well, and values stored for them become bfloat16; sums and the arithmetic between stay float32.
///
/// is_kept  true for calls that stay in float32
IRModule to_bfloat16(const IRModule& module, const CallTest& is_kept);

/// `value`, a tensor, converted to `dtype`.
Expr astype(const Expr& value, DataType dtype);

}  // namespace tilewright::relax
