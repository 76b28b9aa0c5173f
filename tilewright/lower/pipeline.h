// What happens to a scheduled loop program on its way to machine code, in order: read pipeline.cc first.
#pragma once
#include "tilewright/lower/step.h"

namespace tilewright::lower {

/// For machine code of CPUs: from blocks to flat loops of vectors.
const Pipeline& llvm_pipeline();

/// For C source: loops marked vectorized or unrolled stay loops, and vectors become loops.
const Pipeline& c_pipeline();

}  // namespace tilewright::lower
