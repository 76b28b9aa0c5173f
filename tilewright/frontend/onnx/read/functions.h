// Functions that a model brings itself (ModelProto.functions): their calls are replaced by their nodes while the
// model is read.  Source: github.com/onnx/onnx, docs/IR.md, "Model Functions".
#pragma once
#include "tilewright/frontend/onnx/read/model.h"

namespace tilewright::frontend::onnx {

using Opsets = std::map<std::string, int64_t>;

struct Function {
  std::string shown;  // "my.domain::Name"
  std::vector<std::string> inputs, outputs;
  std::vector<std::string> attributes;  // those without default
  std::vector<Attribute> defaults;
  std::vector<Node> nodes;  // each after the nodes it needs
  Opsets opsets;
};

/// By function_key() of the nodes that call them.
using Functions = std::map<std::string, Function>;
std::string function_key(const Node& node);

/// Sets the opset of each node, and puts the nodes of functions in the place of calls, those of subgraphs too.
/// The node "f" of the function called by "c" is "c/f" then, and so are its values.  Raises UserError for
/// functions that call themselves, for calls with too many inputs or outputs, and with unknown attributes.
void expand_functions(Model& model, const Functions& functions);

}  // namespace tilewright::frontend::onnx
