// ONNX to graphs.
#pragma once
#include "tilewright/frontend/onnx/model.h"
#include "tilewright/ir/module.h"

namespace tilewright::frontend::onnx {

/// A module whose function "main" computes the graph of `model`: its inputs are parameters, initializers are
/// constants. Shapes and dtypes are inferred; what the file claims of inner values is not used.  Symbolic
/// input extents become variables. Raises Unsupported with every operator that has no conversion, and the
/// nodes that use it, before anything is built.
ir::IRModule import_model(const Model& model);

/// The operators of ai.onnx that can be imported, by name.
std::vector<std::string> imported_operators();

}  // namespace tilewright::frontend::onnx
