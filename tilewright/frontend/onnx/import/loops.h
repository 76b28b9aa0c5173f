// Loops of the graph: a subgraph becomes the body of R.loop.
#pragma once
#include "tilewright/frontend/onnx/import/convert.h"

namespace tilewright::frontend::onnx {

/// A loop over `body`, which takes and returns carried values and returns values that are collected.
struct Repetition {
  const Graph& body;
  size_t first_input = 0;     // of the body's inputs, the first that is a carried value
  size_t first_output = 0;    // of its outputs; 1 if output 0 is the next condition
  ir::PrimExpr known_most;    // the number of iterations if it is an expression of extents, else null
  Expr most;                  // the most iterations, an int64 scalar; null: no limit
  Expr condition;             // of the first iteration; null: there is none
  std::vector<Expr> initial;  // of the carried values
  /// Defines the other inputs of the body from the number of the iteration and the condition.
  std::function<void(const Expr& iteration, const Expr& condition)> define_inputs;
  /// True if carried values must keep their shapes, as those of Scan.
  bool keeps_shapes = false;
  /// Defines its outputs where no nodes do; empty: its nodes are converted.
  std::function<void()> convert = {};
};

/// The carried values after the last iteration, then the collected ones, stacked along a new first axis.
std::vector<Expr> repeat(Importer& importer, const Node& node, const Repetition& repetition);

/// Raises UserError unless `body` has so many inputs and outputs.
void require_counts(const Graph& body, size_t num_inputs, size_t num_outputs);
/// Defines the outputs of `node` that are wanted.
void define_results(Importer& importer, const Node& node, const std::vector<Expr>& values);

}  // namespace tilewright::frontend::onnx
