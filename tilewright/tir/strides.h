// Distances of a buffer's elements.
#pragma once
#include <vector>

#include "tilewright/tir/tir.h"

namespace tilewright::tir {

/// Elements from one value of each index to the next: the buffer's strides, or those of compact memory, last index fastest.
std::vector<PrimExpr> strides_of(const Buffer& buffer);

}  // namespace tilewright::tir
