// Whether the blocks of a kernel fit on a GPU.
#pragma once
#include "tilewright/target/gpu_features.h"
#include "tilewright/tir/tir.h"

namespace tilewright::analysis {
using namespace tir;

/// Raises a UserError for the first kernel of `func` (a loop over blocks or threads, in no other such loop) of which a
/// block has more threads or shared memory than the GPU allows, or the grid more blocks, as far as sizes are constants.  The
/// text names the loops or buffers, their values, the limit by its name in GpuFeatures, and what to do.  Shared memory is
/// counted where statements allocate it: blocks (T.block) allocate whole buffers, of which lowering keeps a part.
void verify_launch_limits(const PrimFunc& func, const target::GpuFeatures& gpu);

}  // namespace tilewright::analysis
