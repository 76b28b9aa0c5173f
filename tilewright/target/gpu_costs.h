// The numbers of estimates for GPUs that no manual gives, each with what it is good for.
#pragma once
#include <cstdint>

namespace tilewright::target {

struct GpuCosts {
  // Threads of a block whose threads work apart: enough warps to hide waiting, few enough that the last blocks of a
  // grid leave no multiprocessor idle for long.
  int64_t block_threads = 256;
  // Terms that a thread adds by itself before threads share a sum: below, combining costs more than it gains.
  int64_t terms_per_thread = 4;
  // Results that fill a GPU by one thread each, as warps of every multiprocessor: beyond, threads share no sum that
  // lies apart in memory.
  int64_t warps_per_sm = 8;
};
inline constexpr GpuCosts kGpuCosts{};

}  // namespace tilewright::target
