// Redirects accesses to one of several copies of a buffer, which are stored one after the other in a larger
// buffer.
#pragma once
#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

/// `stmt` with every load and store of `buffer` redirected to `copies`, which has one more dimension, at
/// [index, indices...].
Stmt with_leading_index(const Stmt& stmt, const Buffer& buffer, const Buffer& copies, const PrimExpr& index);

}  // namespace tilewright::lower
