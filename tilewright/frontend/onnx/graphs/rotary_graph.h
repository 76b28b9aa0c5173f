// Rotary embeddings as graph operators: pairs of elements turned by an angle for each position.
#pragma once
#include "tilewright/frontend/onnx/graphs/node_math.h"

namespace tilewright::frontend::onnx {

struct RotaryInputs {
  Expr x;         // [b, s, heads, d], or [b, heads, s, d]
  Expr cos, sin;  // [b, s, r / 2]
  bool has_heads_first = false;
  bool is_interleaved = false;  // pairs are neighbours; else halves
  int64_t num_turned = 0;       // r, the number of elements of a head that are turned; 0: all
};
/// `x`, turned.  Source: Su et al., arXiv 2104.09864
Expr rotated(const NodeMath& math, const RotaryInputs& in);
/// Rows of `cache` [positions, r / 2] at `positions` [b, s], which the graph checks when it runs.
Expr rows_at(const NodeMath& math, const Expr& cache, const Expr& positions);

}  // namespace tilewright::frontend::onnx
