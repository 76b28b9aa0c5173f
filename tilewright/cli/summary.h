// A short description of a model: origin, inputs, outputs, constants, operators.
#pragma once
#include <string>

#include "tilewright/cli/model.h"

namespace tilewright::cli {

/// The output of `tilewright inspect` without a stage, as text or JSON.  An ONNX file is imported, not
/// compiled.
std::string summary_text(const ModelOptions& options, bool is_json);

}  // namespace tilewright::cli
