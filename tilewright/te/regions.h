// The regions of buffers that a block body touches, as unions of single elements.
#pragma once
#include "tilewright/tir/tir.h"

namespace tilewright::te {

/// For each buffer read in `values`, in order of first read, the smallest region found: in each dimension one index, the
/// span of indices that differ by constants, or the whole extent.
std::vector<tir::BufferRegion> read_regions(const std::vector<tir::PrimExpr>& values);

}  // namespace tilewright::te
