// Empty reductions: the contents of the output if the extent of a reduction is 0 at run time.
#pragma once
#include "tilewright/tir/tir.h"

namespace tilewright::analysis {

/// Inserts, before each reduction whose axes may be empty, a statement that sets the output to the init in
/// that case:
///
///   for i, k in T.grid(4, n):                     for i in range(4):
///       with T.block("C"):                            if n <= 0:
///           vi, vk = remap("SR", [i, k])                  C[i] = 0
///           with T.init(): C[vi] = 0          ->      for k in range(n):
///           C[vi] = C[vi] + A[vi, vk]                     (the block as it was)
///
/// An empty sum is 0, an empty product 1, an empty maximum the smallest value of its dtype (-inf), as the
/// init defines.  Loops that iterate over axes of both kinds at once (fused ones) are left unchanged.
/// Returns the same object if every axis has a constant extent.
tir::PrimFunc init_empty_reductions(const tir::PrimFunc& func);

}  // namespace tilewright::analysis
