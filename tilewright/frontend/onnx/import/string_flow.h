// Which values of a graph hold strings.
#pragma once
#include "tilewright/frontend/onnx/read/model.h"

namespace tilewright::frontend::onnx {

/// True for a tensor of strings, and for a sequence or optional value of them.
bool is_of_strings(const ValueInfo& info);
/// Marks the nodes of `graph` and of its subgraphs whose inputs and outputs hold strings, those that cannot take them,
/// and the outputs of the graph.  Its inputs say what they hold.  Returns whether any value holds strings.
bool mark_strings(Graph& graph);

}  // namespace tilewright::frontend::onnx
