// Fast evaluation of simple loop programs at compile time: copies of elements and float arithmetic.
#pragma once
#include <span>

#include "tilewright/runtime/tensor.h"
#include "tilewright/tir/tir.h"

namespace tilewright::relax {

/// Runs `func` on `args` (inputs, then the only output) if it is one nest of loops with constant extents that
/// stores one element of the output per iteration and does not read the output.  Supported values are
///   copies of an element of any dtype,
///   + - * / sqrt of float32 and float64 elements at affine indices, and casts to these dtypes, also from
///   int32, int8 and uint8.
/// Whole rows are computed at a time, with one rounding per operation; elements of the output that are not
/// stored become 0.  Returns false, without running anything, for any other program.
bool evaluate_rows(const tir::PrimFunc& func, std::span<const runtime::Tensor> args);

}  // namespace tilewright::relax
