// How a loop program may be fused, read off its loops and accesses.
#pragma once
#include "tilewright/relax/op.h"

namespace tilewright::relax {

/// The pattern of a loop program: of one block without reduction by how its loads follow its store, of one
/// reduction by whether products are summed.  Several blocks with a reduction are kOutFusable, without one
/// kInjective.  kOpaque for what has no blocks, or calls that are not pure.  An attribute "op_pattern" (int)
/// overrides what is found.
FusePattern pattern_of(const tir::PrimFunc& func);

}  // namespace tilewright::relax
