// The records of tuning that the library of a model carries.
#pragma once
#include <string>

#include "tilewright/cli/model.h"

namespace tilewright::cli {

/// Each record with the steps of its schedule, as text or JSON; only those of `kernel` if that is not empty.  Raises
/// UserError if the model is no library, or carries none.
std::string records_text(const ModelOptions& options, const std::string& kernel, bool is_json);

}  // namespace tilewright::cli
