// Loop programs run while compiling, for folding constants.
#pragma once
#include <optional>

#include "tilewright/relax/type_util.h"

namespace tilewright::relax {

/// The outputs of `func`, of types `outputs`, for `inputs`: what call_tir(func, inputs) gives.  Nothing if
/// an output's shape is symbolic, if the program would need more than `max_steps` turns of loops in the
/// interpreter (programs that evaluate_rows takes have no limit), or if running it raises an error.
std::optional<std::vector<runtime::Tensor>> evaluate(const tir::PrimFunc& func,
                                                     const std::vector<runtime::Tensor>& inputs,
                                                     const std::vector<TensorType>& outputs,
                                                     int64_t max_steps);

}  // namespace tilewright::relax
