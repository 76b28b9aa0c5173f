// Copies of tiles to shared memory as asynchronous copies.
#pragma once
#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

/// `stmt` with ptx_cp_async for its stores; null if it does anything else than copy elements of memory in scope global,
/// or zeros under a condition, to shared memory in parts of 4, 8 or 16 bytes.  Buffers are flat.  A vectorized loop is one
/// copy if it is contiguous and aligned on both sides, else one for each element.
Stmt as_async_copy(const Stmt& stmt);

}  // namespace tilewright::lower
