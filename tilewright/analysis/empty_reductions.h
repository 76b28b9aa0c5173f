// Reductions over nothing: what their output holds when an extent is 0 at run time.
#pragma once
#include "tilewright/tir/tir.h"

namespace tilewright::analysis {

/// Before each reduction whose axes may be empty a statement that sets its output to the init if they are:
///
///   for i, k in T.grid(4, n):                     for i in range(4):
///       with T.block("C"):                            if n <= 0:
///           vi, vk = remap("SR", [i, k])                  C[i] = 0
///           with T.init(): C[vi] = 0          ->      for k in range(n):
///           C[vi] = C[vi] + A[vi, vk]                     (the block as it was)
///
/// A sum over nothing is 0, a product 1, a maximum the smallest value of its dtype (-inf), as the init says.
/// Loops that iterate over axes of both kinds at once (fused ones) stay as they are.  The same object if
/// every axis has a constant extent.
tir::PrimFunc init_empty_reductions(const tir::PrimFunc& func);

}  // namespace tilewright::analysis
