// Discrete Fourier transforms as products with tables of sines and cosines.
#pragma once
#include "tilewright/frontend/onnx/graphs/node_math.h"

namespace tilewright::frontend::onnx {

/// A transform along the last dimension; complex numbers are pairs in a dimension after it.
struct FourierTransform {
  ir::PrimExpr length;      // of the transform
  ir::PrimExpr num_given;   // elements of the signal, at most `length`; the rest is 0
  ir::PrimExpr num_wanted;  // elements of the result, from the first
  bool is_complex = false;  // the signal is
  bool is_inverse = false;  // angles are positive, and the result is divided by the length
  bool is_real = false;     // the result is: the given elements are the first half of a symmetric spectrum
};
/// `signal` [.., num_given * 2], or [.., num_given] if it is real -> [.., num_wanted * 2], or [.., num_wanted].
/// Lengths that are known and have large divisors are computed in two steps.
/// Source: Cooley and Tukey, Mathematics of Computation 19 (1965)
Expr fourier_transform(const NodeMath& math, const Expr& signal, const FourierTransform& how);

}  // namespace tilewright::frontend::onnx
