// Imports ONNX models as graphs.
#pragma once
#include "tilewright/frontend/onnx/model.h"
#include "tilewright/ir/module.h"

namespace tilewright::frontend::onnx {

/// A module whose function "main" computes the graph of `model`: its inputs are parameters, initializers are
/// constants.  Shapes and dtypes are inferred; those that the file declares for intermediate values are
/// ignored. Symbolic input extents become variables.  Raises Unsupported, before anything is built, with all
/// operators that have no converter and the nodes that use them.
ir::IRModule import_model(const Model& model);

/// The operators of ai.onnx that can be imported, by name.
std::vector<std::string> imported_operators();

}  // namespace tilewright::frontend::onnx
