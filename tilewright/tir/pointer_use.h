// What operations of devices do with the memory behind their arguments.
#pragma once
#include "tilewright/tir/tir.h"

namespace tilewright::tir {

/// What a call does with the memory behind argument `n`, the address of an element or, as in T.address_of(A[0:8]), of a
/// vector, which is then all that the thread touches.
struct PointerUse {
  bool reads = true, writes = true;
  bool of_warp = false;  // it reads what other threads of its warp point to
};
PointerUse pointer_use(const CallNode* call, size_t n);

/// The element or vector of which `arg` is the address, by T.address_of; null if it is something else.
const BufferLoadNode* pointed_to(const PrimExpr& arg);

}  // namespace tilewright::tir
