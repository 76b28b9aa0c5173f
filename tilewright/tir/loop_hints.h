// Annotations of loops that say nothing about what is computed, but how code generators may do it.
#pragma once
#include <string_view>

namespace tilewright::tir {

/// Set (bool) on the outermost loop of a nest that code generators may make instructions of, which multiply
/// whole tiles; codegen/llvm/tile_nest.h has the form.
inline constexpr std::string_view kMatrixTiles = "matrix_tiles";
/// Set (bool) on such a nest: tiles of rows pass by, so that the first cache keeps the columns.
inline constexpr std::string_view kStreamRows = "stream_rows";

/// Set (bool) on a loop that code generators keep as one, however few iterations it has: written out, it
/// would need more registers than there are.
inline constexpr std::string_view kKeepLoop = "keep_loop";

/// A number of bytes: vectors that the loop reads one after the other are fetched that far ahead.
inline constexpr std::string_view kPrefetchAhead = "prefetch_ahead";
/// With it: 1 or 2, the cache nearest to the core that their lines go to; default 1.
inline constexpr std::string_view kPrefetchLevel = "prefetch_level";

/// A number of bytes: lines that the loop writes one after the other are fetched that far ahead, to be
/// written.
inline constexpr std::string_view kPrefetchWrites = "prefetch_writes";

/// A number of turns, one after the other, that read the same panel of an operand; of several such loops
/// around each other the product.
inline constexpr std::string_view kPanelTurns = "panel_turns";
/// On the loop over the rows of a panel, in those turns: the bytes from it to the next one, of which each
/// turn fetches its part, a little in each row, so that memory has the time of all of them.
inline constexpr std::string_view kPrefetchPanel = "prefetch_panel";
/// With it: the bytes of a row, which is what a turn of the loop reads; at most 1024.
inline constexpr std::string_view kPanelRow = "panel_row";

}  // namespace tilewright::tir
