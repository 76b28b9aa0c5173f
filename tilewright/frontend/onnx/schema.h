// The signatures of supported operators, opset by opset: their inputs, outputs and attributes.
#pragma once
#include <set>

#include "tilewright/frontend/onnx/import.h"
#include "tilewright/frontend/onnx/model.h"

namespace tilewright::frontend::onnx {

/// The opsets of ai.onnx that the converters cover (converter.h).
constexpr int64_t kFirstOpset = 1, kLastOpset = 28;

/// Raises Unsupported for a model of another opset.
void check_opset(const Model& model);
/// The values that nodes or outputs of `graph` read.
std::set<std::string> used_names(const Graph& graph);
/// Raises the errors of check_nodes() for `node`, without the node's name.
void check_node(const Node& node, int64_t opset, const std::set<std::string>& used);
/// Raises Unsupported for a model of another opset, and UserError for the first node with a wrong number of
/// inputs or outputs, a missing required input, or an attribute that is unknown, missing, given twice, of the
/// wrong kind or out of range.  find_converter() must know every operator of `model` that is not in `custom`.
void check_nodes(const Model& model, const CustomConverters& custom);

}  // namespace tilewright::frontend::onnx
