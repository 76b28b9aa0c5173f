// Fast evaluation of simple loop programs while compiling: moves of elements and arithmetic of floats.
#pragma once
#include <span>

#include "tilewright/runtime/tensor.h"
#include "tilewright/tir/tir.h"

namespace tilewright::relax {

/// Runs `func` on `args` (inputs, then the only output) if it is one nest of loops with constant extents that
/// stores one element of the output per turn, and reads none of it: a copy of an element of any dtype, or + -
/// * / sqrt and casts to float32 and float64 (also of int32, int8, uint8), of elements at affine indices.
/// Whole rows are computed at a time, with one rounding per operation; elements of the output that it does
/// not store become 0.  Returns false, and has done nothing, for any other program.
bool evaluate_rows(const tir::PrimFunc& func, std::span<const runtime::Tensor> args);

}  // namespace tilewright::relax
