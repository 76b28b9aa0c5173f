// Annotations of loops that say nothing about what is computed, but how code generators may do it.
#pragma once
#include <string_view>

namespace tilewright::tir {

/// Set (bool) on the outermost loop of a nest that code generators may make instructions of, which multiply
/// whole tiles; codegen/llvm/tile_nest.h has the form.
inline constexpr std::string_view kMatrixTiles = "matrix_tiles";

/// A number of bytes: vectors that the loop reads one after the other are fetched that far ahead.
inline constexpr std::string_view kPrefetchAhead = "prefetch_ahead";

}  // namespace tilewright::tir
