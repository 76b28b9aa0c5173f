// How fast this machine can be at most: the ceilings that kernels are compared with.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tilewright::explain {

/// A cache, or the memory behind all caches.
struct MemoryLevel {
  std::string name;        // "L1", "L2", "L3", "memory"
  int64_t num_bytes = 0;   // that fit into it, of all threads together
  double bytes_per_s = 0;  // that all threads together can read
};

struct Peaks {
  int num_threads = 1;
  double flops_per_s = 0;           // float32 multiply-adds in the widest vectors, two operations each
  std::vector<MemoryLevel> levels;  // the fastest first; the last one holds everything

  /// The first level that `num_bytes` fit into.
  const MemoryLevel& level_for(int64_t num_bytes) const;
};

/// The peaks with the threads that the calling thread may use.  They are measured, with loop programs that
/// this compiler compiles, in about a second, and kept in the cache on disk (driver/disk_cache.h) for other
/// processes; `again` measures them in any case.
///
/// The roofline model: S. Williams, A. Waterman, D. Patterson, CACM 52(4), 2009.
Peaks peaks_of_machine(bool again = false);

}  // namespace tilewright::explain
