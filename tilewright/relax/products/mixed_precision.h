// Graphs whose matrix products and convolutions are done in another precision.
#pragma once
#include <functional>

#include "tilewright/relax/graph/relax.h"

namespace tilewright::relax {

using CallTest = std::function<bool(const Call&)>;

/// `module` with the policy bf16: operands of products and convolutions of float32, outside of dataflow
/// blocks as well, and what is stored for them are bfloat16; sums and arithmetic between are float32.
///
/// is_kept  which calls stay in float32
IRModule to_bfloat16(const IRModule& module, const CallTest& is_kept);

/// `value`, a tensor, with elements of `dtype`.
Expr astype(const Expr& value, DataType dtype);

}  // namespace tilewright::relax
