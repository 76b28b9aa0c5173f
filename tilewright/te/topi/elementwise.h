// Elementwise operations on one tensor.  Shapes are kept; the blocks are named T_<function>.
#pragma once
#include "tilewright/te/compute.h"

namespace tilewright::topi {
using te::Shape;
using te::Tensor;
using tir::PrimExpr;

/// The tensor of `body(x[i, ...])`; its block is called `name`.
Tensor elementwise(const Tensor& x, std::string name, const std::function<PrimExpr(PrimExpr)>& body);
/// The TIR function `op` ("exp", "tanh", ...) of every element of a float tensor.
Tensor math(const Tensor& x, std::string_view op);

Tensor abs(const Tensor& x);
Tensor negative(const Tensor& x);
Tensor sign(const Tensor& x);
Tensor square(const Tensor& x);
Tensor relu(const Tensor& x);
/// x where x > 0, else alpha * x
Tensor leaky_relu(const Tensor& x, double alpha);
/// x / 2 * (1 + erf(x / sqrt(2))).  Source: Hendrycks and Gimpel, arXiv 1606.08415
Tensor gelu(const Tensor& x);
/// The approximation of gelu by tanh, from the same source.
Tensor gelu_tanh(const Tensor& x);
/// x * sigmoid(x)
Tensor silu(const Tensor& x);
/// log(1 + exp(beta * x)) / beta, and x where beta * x is above `threshold`
Tensor softplus(const Tensor& x, double beta = 1, double threshold = 20);
/// scale * (x where x > 0, else alpha * (exp(x) - 1)).  Source: Klambauer et al., arXiv 1706.02515
Tensor selu(const Tensor& x);
/// min(max(x, low), high)
Tensor clip(const Tensor& x, const PrimExpr& low, const PrimExpr& high);
Tensor cast(const Tensor& x, DataType dtype);

/// The dtype that floats are accumulated in if the result is of `dtype`: at least float32, so that sums of
/// many float16 or bfloat16 values are rounded once, and overflow only if the result does.
DataType dtype_of_sums(DataType dtype);
/// `value` in dtype_of_sums.
PrimExpr widened(const PrimExpr& value);
/// `sums` rounded to `dtype`, the dtype of an operator's result.
Tensor rounded_to(const Tensor& sums, DataType dtype);

Tensor logical_not(const Tensor& x);
Tensor bitwise_not(const Tensor& x);
Tensor isnan(const Tensor& x);
Tensor isinf(const Tensor& x);
Tensor isfinite(const Tensor& x);

}  // namespace tilewright::topi
