// How much arithmetic a loop program does.
#pragma once
#include <functional>
#include <optional>

#include "tilewright/tir/tir.h"

namespace tilewright::analysis {

/// The value of a symbolic size, or nothing if it is unknown.
using SizeOf = std::function<std::optional<int64_t>(const tir::VarNode*)>;

/// Operations of one call of `func` on floats, and on integers that buffers hold, with or without blocks:
/// additions, subtractions, multiplications, divisions, minima, maxima and calls of math functions count one
/// each, a vector as many as it has lanes.  Arithmetic of indices and conditions does not count.  Of two
/// branches the longer counts, of a block's init nothing: it runs once for each output. Nothing if a loop has
/// no known extent, there is a while loop, or the number does not fit.
std::optional<int64_t> count_flops(const tir::PrimFunc& func, const SizeOf& size_of = {});

/// The lanes of the instructions that do these operations: an operation in a vectorized loop or on a vector
/// takes instructions on whole vectors of `vector_bytes`, any other takes one of them; instructions on matrix
/// tiles are used whole.  count_flops over this is the part of the lanes that does work.
std::optional<int64_t> count_lanes(const tir::PrimFunc& func, int64_t vector_bytes,
                                   const SizeOf& size_of = {});

}  // namespace tilewright::analysis
