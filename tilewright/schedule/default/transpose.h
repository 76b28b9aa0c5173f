// Square tiles that are transposed in registers.
#pragma once
#include "tilewright/schedule/default/shape.h"
#include "tilewright/schedule/tensor_intrin.h"

namespace tilewright::schedule {

/// A tile of `size` by `size` elements of `dtype`: B[i, j] = A[j, i].
struct TransposedTile {
  int64_t size = 0;
  std::string dtype;
  int64_t from_gap = 0, to_gap = 0;  // dimensions of extent 1 between both, in A and in B
  bool is_column_first = false;      // the block's axes are j, i

  /// "transpose_16_float32_0_1", "transpose_16_float32_0_1_columns_first": of the intrinsic.
  std::string name() const;
};

/// The intrinsic of that name: rows are loaded as vectors, shuffled and stored.  Nothing for other names;
/// sizes are powers of two from 4 to 16, elements have 16, 32 or 64 bits.
std::optional<TensorIntrin> transpose_intrinsic(const std::string& name);

/// The tile of `size` along both axes of a block that does nothing but transpose them; nothing for other
/// blocks, and if `size` does not divide both extents.
///
/// row_axis, column_axis  along which elements of the load, and of the store, are contiguous
std::optional<TransposedTile> transposed_tile(const BlockShape& shape, size_t row_axis, size_t column_axis,
                                              int64_t size);

}  // namespace tilewright::schedule
