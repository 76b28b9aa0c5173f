// The constructs of loop programs that lowering removes step by step.
#pragma once
#include <cstdint>
#include <string>

#include "tilewright/tir/tir.h"

namespace tilewright::lower {

/// A set of constructs as bits: a step declares those it works on and those that are gone after it.
using Constructs = uint32_t;

inline constexpr Constructs kNothing = 0;
inline constexpr Constructs kReturns = 1 << 0;         // T.ret of a value for the caller
inline constexpr Constructs kBlocks = 1 << 1;          // T.block
inline constexpr Constructs kViews = 1 << 2;           // T.match_buffer of a region, in a block
inline constexpr Constructs kInits = 1 << 3;           // T.init
inline constexpr Constructs kBlockBuffers = 1 << 4;    // T.alloc_buffer in a block
inline constexpr Constructs kVirtualThreads = 1 << 5;  // loops bound to vthread
inline constexpr Constructs kManyDimensions = 1 << 6;  // A[i, j]
inline constexpr Constructs kPartsOfBytes = 1 << 7;    // elements of less than 8 bits
inline constexpr Constructs kUnrolledLoops = 1 << 8;   // T.unroll
inline constexpr Constructs kVectorLoops = 1 << 9;     // T.vectorized
inline constexpr Constructs kVectors = 1 << 10;        // expressions of several lanes: T.Ramp, A[0:8]
inline constexpr Constructs kMissingCalls = 1 << 11;   // functions that no machine has: T.ldexp
inline constexpr Constructs kSmallFloats = 1 << 12;    // arithmetic on floats of 8 bits and bfloat16
inline constexpr Constructs kHalfFloats = 1 << 13;     // arithmetic on float16
inline constexpr Constructs kAnything = (1 << 14) - 1;

/// True for elements that share a byte with others: integers and floats of less than 8 bits.
inline bool is_part_of_byte(DataType dtype) {
  return (dtype.is_integral() || dtype.is_float()) && dtype.bits < 8;
}

/// The constructs that `func` uses.
Constructs constructs_of(const tir::PrimFunc& func);

/// "blocks, views of regions"
std::string constructs_text(Constructs constructs);

}  // namespace tilewright::lower
