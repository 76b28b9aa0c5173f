// The fusion pattern of a loop program, derived from its loops and accesses.
#pragma once
#include "tilewright/relax/infer/op.h"

namespace tilewright::relax {

/// The pattern of a loop program.  Without a reduction it follows from the indices of loads and store
/// (several blocks: kInjective); one reduction is kOutFusable if it sums products, else kReduction.  Programs
/// with several reductions, without blocks or with calls that are not pure are kOpaque.  An attribute
/// "op_pattern" (int) overrides all this.
FusePattern pattern_of(const tir::PrimFunc& func);
/// True if the reduction of `func` uses each element that it reads once: a sum does, pooling does not.
bool reads_once(const tir::PrimFunc& func);

/// True if `func`, which is opaque, has several reductions over whole rows, as softmax and norms have: it may convert from
/// bytes first and to bytes at the end.
bool is_rows(const tir::PrimFunc& func);

}  // namespace tilewright::relax
