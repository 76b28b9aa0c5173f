// How wide the vectors are that loops are made for.
// x86, NEON and wasm have registers of widths that features tell.  Those of SVE and RVV are as wide as the
// maker of a processor chose: a table of cores, a feature (zvl256b) or the target (-vector-width) says it.
#pragma once
#include <cstdint>

#include "tilewright/ir/target.h"
#include "tilewright/target/features.h"

namespace tilewright::target {

struct VectorWidth {
  int64_t bits = 128;  // of the vectors
  /// Bits that a register of SVE or RVV must have where the code runs, or more; 0: those that each has.
  /// Code asks the machine for it before it uses one.
  int64_t least_register_bits = 0;
};

/// The widest that are fast on `processor`; its vector_bits have no effect.
int64_t widest_vectors(const Processor& processor);

/// The same, or what `target` says by -vector-width.  Raises UserError for a width that no vectors of
/// `processor` have.
VectorWidth vector_width(const Processor& processor, const ir::Target& target);

}  // namespace tilewright::target
