// The annotation of loops that multiply matrix tiles.
#pragma once
#include <string_view>

namespace tilewright::tir {

/// Set (bool) on the outermost loop of a nest that code generators may make instructions of, which multiply
/// whole tiles; codegen/llvm/tile_nest.h has the form.  The meaning of the loops stays what it is.
inline constexpr std::string_view kMatrixTiles = "matrix_tiles";

}  // namespace tilewright::tir
