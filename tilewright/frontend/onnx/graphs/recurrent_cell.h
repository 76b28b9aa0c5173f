// One time step of RNN, GRU and LSTM.  Source: onnx.ai/onnx/operators (RNN, GRU, LSTM).
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "tilewright/frontend/onnx/import/convert.h"

namespace tilewright::frontend::onnx {

/// Binds a value, in the graph or in the body of a loop, and returns its name.
using Emit = std::function<Expr(const Expr&)>;

enum class CellKind { kRnn, kGru, kLstm };

struct Activation {
  std::string name;  // in lower case
  double alpha = 0, beta = 0;
};

/// The activations of all directions of `node`: those it names, or `defaults` for each direction.  Raises
/// UserError for an unknown one, or another number of them.
std::vector<Activation> activations_of(const Node& node, const std::vector<std::string>& defaults,
                                       size_t num_directions);

/// What all steps of one direction share.  Gates are parts of `hidden` columns, in ONNX's order: RNN i; GRU
/// z, r, h; LSTM i, o, f, c.
struct Cell {
  CellKind kind;
  int64_t hidden = 0;
  DataType dtype = kFloat32;                 // of the states
  std::vector<Activation> activations = {};  // f, g, h
  double clip = 0;                           // bound of what goes into activations of gates; 0: none
  bool couples_forget = false;               // LSTM: the forget gate is 1 minus the input gate
  bool resets_after = false;                 // GRU: the reset gate scales the product, not the state

  int64_t num_gates() const { return kind == CellKind::kRnn ? 1 : kind == CellKind::kGru ? 3 : 4; }
  size_t num_states() const { return kind == CellKind::kLstm ? 2 : 1; }

  /// The states after a step: h, or h and c.
  /// input    gives the share of the input in a gate, [batch, hidden]
  /// states   before the step
  /// weights  RNN: R.  LSTM: R, or R and the three rows of P (i, o, f).  GRU: R and Rb of h if resets_after,
  ///          else R of z and r, and R of h.  R is [hidden, gates * hidden], the others are [hidden].
  std::vector<Expr> step(const Emit& emit, const std::function<Expr(int64_t)>& input,
                         const std::vector<Expr>& states, const std::vector<Expr>& weights) const;
};

/// x[..., begin : end] of the columns of x, which has two dimensions or more.
Expr columns(const Expr& x, int64_t begin, int64_t end);

}  // namespace tilewright::frontend::onnx
