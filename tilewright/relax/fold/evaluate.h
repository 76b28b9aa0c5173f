// Loop programs run while compiling, for folding constants.
#pragma once
#include <optional>

#include "tilewright/relax/graph/type_util.h"

namespace tilewright::relax {

/// The outputs of `func`, of types `outputs`, for `inputs`: what call_tir(func, inputs) gives.  Nothing if
/// an output's shape is symbolic, if the program would need more than `*steps_left` turns of loops in the
/// interpreter (programs that evaluate_rows takes need none), or if running it raises an error.  What it
/// needs is taken off `*steps_left`.
std::optional<std::vector<runtime::Tensor>> evaluate(const tir::PrimFunc& func,
                                                     const std::vector<runtime::Tensor>& inputs,
                                                     const std::vector<TensorType>& outputs,
                                                     int64_t* steps_left);

}  // namespace tilewright::relax
