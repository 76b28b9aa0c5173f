// Square tiles that are transposed in registers.
#pragma once
#include <optional>

#include "tilewright/schedule/intrinsics/tensor_intrin.h"

namespace tilewright::schedule {

/// Sizes of such tiles: powers of two.
inline constexpr int64_t kLeastTransposed = 4, kMostTransposed = 16;

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

}  // namespace tilewright::schedule
