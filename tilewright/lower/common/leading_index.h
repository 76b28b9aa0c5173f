// Accesses of several copies of a buffer that stand in one, behind each other.
#pragma once
#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

/// `stmt` with every load and store of `buffer` going to `copies`, which has one dimension more, at
/// [index, indices...].
Stmt with_leading_index(const Stmt& stmt, const Buffer& buffer, const Buffer& copies, const PrimExpr& index);

}  // namespace tilewright::lower
