// Imports ONNX models as graphs.
#pragma once
#include <functional>

#include "tilewright/frontend/onnx/read/model.h"
#include "tilewright/ir/module.h"
#include "tilewright/relax/graph/relax.h"

namespace tilewright::frontend::onnx {

class Importer;
/// Makes the outputs of a node; Importer::builder binds values.
using CustomConverter = std::function<std::vector<relax::Expr>(Importer& importer, const Node& node)>;
/// Converters that come with an import, for operators of other domains than ai.onnx, by Node::op(); they go
/// before those of the folder converters/.
using CustomConverters = std::map<std::string, CustomConverter>;

/// A module whose function "main" computes the graph of `model`: its inputs are parameters, initializers are
/// constants.  Shapes and dtypes are inferred; those that the file declares for intermediate values are
/// ignored. Symbolic input extents become variables.  Raises Unsupported, before anything is built, with all
/// operators that have no converter and the nodes that use them.
ir::IRModule import_model(const Model& model, const CustomConverters& custom = {});

/// The operators of ai.onnx that can be imported, by name.
std::vector<std::string> imported_operators();

}  // namespace tilewright::frontend::onnx
