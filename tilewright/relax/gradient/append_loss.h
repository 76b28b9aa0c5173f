// Joins a model and its loss in one function, which a training step differentiates.
#pragma once
#include <string>

#include "tilewright/relax/graph/relax.h"

namespace tilewright::relax {

/// `module` with the function `new_name`: func_name, whose first `num_outputs` results are the first
/// arguments of `loss`.  It takes the parameters of both and returns (loss, other
/// results...), or the loss alone.
IRModule append_loss(const IRModule& module, const std::string& func_name, const Function& loss,
                     int64_t num_outputs, const std::string& new_name);

}  // namespace tilewright::relax
