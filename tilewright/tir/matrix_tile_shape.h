// The shapes of products that matrix tile instructions (AMX) compute well: tiles of 16 columns, of up to 16
// rows and 16 groups of 32 bits.
#pragma once
#include <algorithm>
#include <cstdint>

namespace tilewright::tir {

inline constexpr int64_t kTileColumns = 16, kMostTileRows = 16, kMostTileGroups = 16;
/// The fewest rows and groups of a tile: smaller tiles leave too much of a register empty.
inline constexpr int64_t kLeastTileRows = 6, kLeastTileGroups = 4;

/// The largest divisor of `extent` that is at most `most`; both are 1 or more.
inline int64_t divisor_up_to(int64_t extent, int64_t most) {
  int64_t divisor = std::min(extent, most);
  while (divisor > 1 && extent % divisor != 0) --divisor;
  return divisor;
}

/// True if products of these extents divide into tiles that fill enough of the tile registers.
inline bool fills_matrix_tiles(int64_t rows, int64_t columns, int64_t groups) {
  return rows > 0 && columns > 0 && groups > 0 && columns % kTileColumns == 0 &&
         divisor_up_to(rows, kMostTileRows) >= kLeastTileRows &&
         divisor_up_to(groups, kMostTileGroups) >= kLeastTileGroups;
}

}  // namespace tilewright::tir
