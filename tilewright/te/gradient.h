// Reverse-mode differentiation of tensor expressions.
//   C[i] = sum over k of A[i, k] * B[k]
//   gradient(C, {A}, {dC})   ->   dA[i, k] = dC[i] * B[k]
// Indices of reads are solved for the axes of the reader, so that what remains is a sum over the axes that they do not
// determine.
#pragma once
#include "tilewright/te/compute.h"

namespace tilewright::te {

/// The derivatives of `output` by each of `inputs`, times `head`: of shape [..., input shape], where head has [..., output
/// shape].  Without head, the derivatives themselves: [output shape, input shape].  Of equal largest terms, each has the
/// same share.
///
/// Raises UserError if the shape or a dtype does not fit, Unsupported for an operator or a reduction without a rule.
std::vector<Tensor> gradient(const Tensor& output, const std::vector<Tensor>& inputs, const Tensor& head);

}  // namespace tilewright::te
