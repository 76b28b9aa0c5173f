// A short description of a model: origin, inputs, outputs, constants, operators.
#pragma once
#include <string>

#include "tilewright/cli/model.h"
#include "tilewright/frontend/onnx/import/problems.h"

namespace tilewright::cli {

/// The output of `tilewright inspect` without a stage, as text or JSON.  An ONNX file is imported, not
/// compiled.
std::string summary_text(const ModelOptions& options, bool is_json);

/// "ONNX opset 13, made by pytorch"
std::string origin_text(const frontend::onnx::Model& model);
/// "NonZero (a, b): the operator cannot be imported"; without a reason "NonZero (a, b)"
std::string problem_text(const frontend::onnx::Problem& problem);

}  // namespace tilewright::cli
