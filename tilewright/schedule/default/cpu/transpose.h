// Blocks that transpose, whose square tiles an intrinsic transposes in registers.
#pragma once
#include "tilewright/schedule/default/cpu/shape.h"
#include "tilewright/schedule/intrinsics/transpose.h"

namespace tilewright::schedule {

/// The tile of `size` along both axes of a block that does nothing but transpose them; nothing for other
/// blocks, and if `size` does not divide both extents.
///
/// row_axis, column_axis  along which elements of the load, and of the store, are contiguous
std::optional<TransposedTile> transposed_tile(const BlockShape& shape, size_t row_axis, size_t column_axis,
                                              int64_t size);

}  // namespace tilewright::schedule
