// A model in a few lines: where it comes from, inputs, outputs, constants, operators.
#pragma once
#include <string>

#include "tilewright/cli/model.h"

namespace tilewright::cli {

/// What `tilewright inspect` says of the model without a stage, as text or JSON.  An ONNX file is imported,
/// not compiled.
std::string summary_text(const ModelOptions& options, bool is_json);

}  // namespace tilewright::cli
