// How the threads of a warp reach memory together: sectors of global memory, banks of shared memory.  On lowered kernels.
#pragma once
#include <vector>

#include "tilewright/target/gpu_features.h"
#include "tilewright/tir/tir.h"

namespace tilewright::analysis {
using namespace tir;

/// A load or store in a kernel, as the first warp of a block does it.
struct WarpAccess {
  ObjectRef node;  // the load or store
  Buffer buffer;
  bool is_write = false;
  int64_t bytes_per_thread = 0;
  int64_t num_threads = 0;    // of the warp that do it
  int64_t step_bytes = 0;     // from the first thread's element to the second's
  int64_t num_sectors = 0;    // of global memory that it touches
  int64_t least_sectors = 0;  // if the elements were side by side
  int64_t bank_ways =
      0;  // shared memory: the most different words of one bank, in one part of the access; 1 is best
};

/// The accesses of a lowered kernel (lower/lowered.h) to global and shared memory, in order, of which it is known how far the
/// elements of its threads are apart.  Where that depends on a loop, its first iteration counts.  The first element of a
/// warp is taken to begin a sector unless its index says otherwise.
std::vector<WarpAccess> warp_accesses(const PrimFunc& kernel, const target::GpuFeatures& gpu);

/// What a kernel is launched with, and the memory of its blocks and threads.
struct BlockSize {
  PrimExpr grid[3];              // blocks along x, y and z; null: one
  int64_t block[3] = {1, 1, 1};  // threads
  int64_t threads = 1;
  int64_t shared_bytes = 0;
  int64_t local_bytes = 0;  // of arrays of a thread
  int64_t blocks = 0;       // of the grid; 0: not a constant
  std::vector<Buffer> shared;

  /// Registers of a thread: its arrays, and what code needs besides (target/gpu_costs.h).
  int64_t estimated_registers() const;
};
BlockSize block_size(const PrimFunc& kernel);

}  // namespace tilewright::analysis
