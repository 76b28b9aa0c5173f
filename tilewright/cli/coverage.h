// What becomes of the nodes of an ONNX model, operator by operator, before anything is built.
#pragma once
#include <string>

#include "tilewright/cli/model.h"

namespace tilewright::cli {

/// The output of `tilewright inspect --coverage`, as text or JSON.
std::string coverage_text(const ModelOptions& options, bool is_json);

}  // namespace tilewright::cli
