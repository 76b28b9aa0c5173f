// Annotations of loops that do not change what is computed, only how code generators compute it.
#pragma once
#include <string_view>

namespace tilewright::tir {

/// Set (bool) on the outermost loop of a nest that code generators may turn into instructions on whole
/// matrix tiles; codegen/llvm/tile_nest.h describes the form of the nest.
inline constexpr std::string_view kMatrixTiles = "matrix_tiles";
/// Set (bool) on such a nest: tiles of rows are streamed past L1, so that L1 keeps the columns.
inline constexpr std::string_view kStreamRows = "stream_rows";

/// Set (bool) on a loop that code generators must not unroll, however few iterations it has: unrolled, it
/// would need more registers than the machine has.
inline constexpr std::string_view kKeepLoop = "keep_loop";

/// The prefetch distance in bytes of the vectors that the loop reads one after the other.
inline constexpr std::string_view kPrefetchAhead = "prefetch_ahead";
/// With kPrefetchAhead: 1 or 2, the cache level nearest to the core that the lines are
/// fetched into; default 1.
inline constexpr std::string_view kPrefetchLevel = "prefetch_level";
/// With kPrefetchAhead: the distance in the small tiles that lowering makes of the last of an open number of
/// rows (lower/common/open_rows.h).
inline constexpr std::string_view kPrefetchAheadOfFew = "prefetch_ahead_of_few";

/// The prefetch distance in bytes of the lines that the loop writes one after the other; they are fetched for
/// writing.
inline constexpr std::string_view kPrefetchWrites = "prefetch_writes";

/// The number of consecutive iterations that read the same panel of an operand; for nested loops of this kind
/// the product.
inline constexpr std::string_view kPanelIterations = "panel_iterations";
/// On the loop over the rows of a panel, within those iterations: the distance in bytes from this panel to
/// the next one.  Each iteration fetches its share of the next panel, a little in each row, so that the loads
/// from memory are spread over all iterations.
inline constexpr std::string_view kPrefetchPanel = "prefetch_panel";
/// With kPrefetchPanel: the bytes of a row, which one iteration of the loop reads; at most 1024.
inline constexpr std::string_view kPanelRow = "panel_row";

}  // namespace tilewright::tir
