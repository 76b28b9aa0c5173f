// Tiles at the edge of an open extent are told from whole ones before they run.
#pragma once
#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

/// `loop` with a branch around its body: whole tiles go without their guards.
///   for io in range((n + 3) // 4): for k in range(8): for ii in unroll(4): if io * 4 + ii < n: f(io, k, ii)
///   ->  for io in range((n + 3) // 4):
///         if io * 4 + 3 < n: for k in range(8): for ii in unroll(4): f(io, k, ii)
///         else:              for k in range(8): for ii in unroll(4): if io * 4 + ii < n: f(io, k, ii)
/// Guards are conjuncts of `if` conditions that depend on the loop's variable, on loops inside that are written out
/// or vectors, and on nothing else that is defined inside.  Where rows have other conditions as well, the tile at the
/// edge is smaller ones that are whole (smaller_tiles.h).
For branch_on_whole_tiles(const For& loop);

}  // namespace tilewright::lower
