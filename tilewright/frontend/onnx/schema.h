// What nodes of the supported operators look like, opset by opset: their inputs, outputs and attributes.
#pragma once
#include <set>

#include "tilewright/frontend/onnx/model.h"

namespace tilewright::frontend::onnx {

/// The opsets of ai.onnx that converters know (converter.h).
constexpr int64_t kFirstOpset = 7, kLastOpset = 28;

/// Raises Unsupported for a model of another opset.
void check_opset(const Model& model);
/// The values that nodes or outputs of `graph` read.
std::set<std::string> used_names(const Graph& graph);
/// Raises what check_nodes() raises for `node`, without saying which node it is.
void check_node(const Node& node, int64_t opset, const std::set<std::string>& used);
/// Raises Unsupported for a model of another opset, and UserError for the first node with a wrong number of
/// inputs or outputs, a required input left out, or an attribute that is unknown, missing, given twice, of
/// the wrong kind or out of range.  Every operator of `model` must be one of find_converter().
void check_nodes(const Model& model);

}  // namespace tilewright::frontend::onnx
