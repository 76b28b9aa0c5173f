// Counts the arithmetic operations of a loop program.
#pragma once
#include <functional>
#include <optional>

#include "tilewright/tir/tir.h"

namespace tilewright::analysis {

/// The value of a symbolic size, or nullopt if it is unknown.
using SizeOf = std::function<std::optional<int64_t>(const tir::VarNode*)>;

/// The operations of one call of `func` on floats and on integers in buffers, with or without blocks:
/// additions, subtractions, multiplications, divisions, minima, maxima and calls of math functions count one
/// each, a vector as many as it has lanes.  Arithmetic of indices and conditions does not count.  Of two
/// branches the longer one counts; the init of a block does not count, since it runs once per output.
/// Nullopt if a loop's extent is unknown, there is a while loop, or the number overflows.
std::optional<int64_t> count_flops(const tir::PrimFunc& func, const SizeOf& size_of = {});

/// The lanes of the instructions that perform these operations: an operation in a vectorized loop or on a
/// vector uses whole vectors of `vector_bytes`, any other operation uses one whole vector; instructions on
/// matrix tiles count as full.  count_flops divided by this is the share of the lanes that do useful work.
std::optional<int64_t> count_lanes(const tir::PrimFunc& func, int64_t vector_bytes,
                                   const SizeOf& size_of = {});

}  // namespace tilewright::analysis
