// What no CPU computes with, refused before lowering begins, at the user's line.
#pragma once
#include "tilewright/tir/tir.h"

namespace tilewright::lower {

/// Raises Unsupported at the first value whose dtype has no code (integers of other than 8, 16, 32 and 64
/// bits, scalable vectors), UserError at the first thread of a GPU.
void require_code_for_cpu(const tir::PrimFunc& func);

}  // namespace tilewright::lower
