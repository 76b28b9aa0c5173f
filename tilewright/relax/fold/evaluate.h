// Runs loop programs at compile time, for constant folding.
#pragma once
#include <optional>

#include "tilewright/relax/graph/type_util.h"

namespace tilewright::relax {

/// The outputs of `func`, of types `outputs`, for `inputs`: the results of call_tir(func, inputs).  nullopt
/// if an output's shape is symbolic, if running it raises an error, or if the interpreter would need more
/// than `*steps_left` iterations of loops.  The iterations are subtracted from `*steps_left`; programs that
/// evaluate_rows accepts need none.
std::optional<std::vector<runtime::Tensor>> evaluate(const tir::PrimFunc& func,
                                                     const std::vector<runtime::Tensor>& inputs,
                                                     const std::vector<TensorType>& outputs,
                                                     int64_t* steps_left);

}  // namespace tilewright::relax
