// The weights of RNN, GRU and LSTM in the form that steps read: matrices turned, of the dtype of the states,
// and constants wherever they depend on constants only, so that they are packed while compiling.
#pragma once
#include "tilewright/frontend/onnx/graphs/recurrent_cell.h"

namespace tilewright::frontend::onnx {

class RecurrentWeights {
 public:
  /// The weights of `node` in the inputs 1 (W), 2 (R), 3 (B) and 7 (P).
  RecurrentWeights(Importer& importer, const Node& node, const Cell& cell);

  /// W of direction `index`, [input, gates * hidden].
  Expr input(int64_t index) const;
  /// What is added to the product with W: the sum of both biases as far as it does not depend on the reset
  /// gate, [gates * hidden]; null if the node has none.
  Expr bias(int64_t index) const;
  /// See Cell::step.
  std::vector<Expr> of_steps(int64_t index) const;

 private:
  Expr rows(size_t input, int64_t index, int64_t begin, int64_t end) const;
  Expr matrix(size_t input, int64_t index, int64_t begin, int64_t end) const;
  bool has(size_t input) const { return static_cast<bool>(values_[input]); }

  Importer& importer_;
  const Node& node_;
  const Cell& cell_;
  int64_t hidden_, count_;  // columns of a gate, of all gates
  std::vector<Expr> values_;
};

}  // namespace tilewright::frontend::onnx
