// How a loop program may be fused, read off its loops and accesses.
#pragma once
#include "tilewright/relax/infer/op.h"

namespace tilewright::relax {

/// The pattern of a loop program: without reduction by how its loads follow its store (of several blocks
/// kInjective); with one reduction kOutFusable if it sums products, else kReduction.  kOpaque for several
/// reductions, for what has no blocks, and for calls that are not pure.  An attribute "op_pattern" (int)
/// overrides what is found.
FusePattern pattern_of(const tir::PrimFunc& func);
/// Whether the reduction of `func` uses each element of what it reads once: a sum does, pooling does not.
bool reads_once(const tir::PrimFunc& func);

}  // namespace tilewright::relax
