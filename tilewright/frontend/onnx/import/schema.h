// The signatures of supported operators, opset by opset: their inputs, outputs and attributes.
#pragma once
#include <set>

#include "tilewright/frontend/onnx/import/import.h"
#include "tilewright/frontend/onnx/read/model.h"

namespace tilewright::frontend::onnx {

/// The opsets of ai.onnx that the converters cover (converter.h).
constexpr int64_t kFirstOpset = 1, kLastOpset = 28;

/// Raises Unsupported for a model of another opset.
void check_opset(const Model& model);
/// The values that nodes of `graph`, or their subgraphs, read.
std::set<std::string> names_read_by_nodes(const Graph& graph);
/// The same, and the outputs of `graph`.
std::set<std::string> used_names(const Graph& graph);
/// Raises the errors of check_nodes() for `node`, without the node's name.
void check_node(const Node& node, int64_t opset, const std::set<std::string>& used);
/// Raises Unsupported for a model of another opset, and UserError for the first node with a wrong number of
/// inputs or outputs, a missing required input, or an attribute that is unknown, missing, given twice, of the
/// wrong kind or out of range.  find_converter() must know every operator of `model` that is not in `custom`.
void check_nodes(const Model& model, const CustomConverters& custom);
/// The same for `graph`, a subgraph of a model of `opset`; raises Unsupported for operators without converter.
void check_graph(const Graph& graph, int64_t opset, const CustomConverters& custom);
/// Raises Unsupported with all operators that have no converter, so that users do not find them one by one;
/// those of subgraphs are listed only beside others, because a branch that is never taken needs none.
void refuse_unsupported(const Graph& graph, const CustomConverters& custom);

}  // namespace tilewright::frontend::onnx
