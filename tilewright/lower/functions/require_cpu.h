// Refuses values and threads that CPUs do not support, before lowering begins, at the user's line.
#pragma once
#include "tilewright/tir/tir.h"

namespace tilewright::lower {

/// Raises Unsupported at the first value whose dtype cannot be compiled (integers of other than 8, 16, 32 and
/// 64 bits, scalable vectors), and UserError at the first GPU thread.
void require_code_for_cpu(const tir::PrimFunc& func);

}  // namespace tilewright::lower
