// What a kernel takes from a GPU, and how long that is: shared by the default schedules and the tuner.
#pragma once
#include <optional>

#include "tilewright/target/gpu_features.h"

namespace tilewright::target {

/// A kernel by what each of its blocks takes from a multiprocessor, in cycles as if nothing else limited.
struct GpuWork {
  int64_t blocks = 1;
  int64_t threads = 1, registers_per_thread = 1, shared_bytes = 0;  // of a block
  double instructions = 0;                                          // that its warps start
  double shared = 0;                                                // of shared memory
  double cache = 0;  // of the cache that all multiprocessors share, if all of them ask as much
};

/// The cycles of the multiprocessor that has the most blocks; nothing if it cannot keep even one.
std::optional<double> cycles_of(const GpuWork& work, const GpuFeatures& features);

}  // namespace tilewright::target
