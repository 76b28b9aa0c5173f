// The order of the steps that lower a scheduled loop program; read pipeline.cc first.
#pragma once
#include "tilewright/lower/step.h"

namespace tilewright::lower {

/// The pipeline for machine code of CPUs: from blocks to flat loops of vectors.
const Pipeline& llvm_pipeline();

/// The pipeline for C source: loops marked vectorized or unrolled stay loops, and vectors become loops.
const Pipeline& c_pipeline();

/// The pipeline for kernels of GPUs in the language of `kind`, "cuda", "opencl" or "metal": one loop for each axis of a
/// kernel, and barriers.
const Pipeline& gpu_pipeline(std::string_view kind);

/// All of them.
std::vector<const Pipeline*> all_pipelines();

}  // namespace tilewright::lower
