// A model and its loss as one function, what a training step differentiates.
#pragma once
#include <string>

#include "tilewright/relax/graph/relax.h"

namespace tilewright::relax {

/// `module` with the function `new_name`: func_name, whose first `num_outputs` results go into the first
/// parameters of `loss`.  It takes what both take and gives (loss, other results...), or the loss alone.
IRModule append_loss(const IRModule& module, const std::string& func_name, const Function& loss,
                     int64_t num_outputs, const std::string& new_name);

}  // namespace tilewright::relax
