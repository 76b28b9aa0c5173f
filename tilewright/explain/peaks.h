// How fast this machine can be at most: the ceilings that kernels are compared with.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::explain {

/// A cache, or the memory behind all caches.
struct MemoryLevel {
  std::string name;        // "L1", "L2", "L3", "memory"
  int64_t num_bytes = 0;   // that fit into it, of all threads together
  double bytes_per_s = 0;  // that all threads together can read
};

/// The instructions that multiply and add.
enum class Arithmetic {
  kVectors,   // multiply-adds of float32 in the widest vectors
  kBfloat16,  // dot product instructions (T.dot_add) of bfloat16
  kInt8,      // and of uint8 by int8
};
/// "vectors", "bfloat16", "int8".
std::string_view name_of(Arithmetic arithmetic);

struct Peaks {
  int num_threads = 1;
  double flops_per_s = 0;                     // of vectors; a multiplication and an addition are two
  std::vector<MemoryLevel> levels;            // the fastest first; the last one holds everything
  double bfloat16_per_s = 0, int8_per_s = 0;  // 0: the machine has no such instructions
  bool is_steady = true;  // samples agreed; false: the machine was busy, and may be faster than this

  /// Operations a second; those of vectors if the machine has no other.
  double of(Arithmetic arithmetic) const;
  /// The first level that `num_bytes` fill to three quarters at most.
  const MemoryLevel& level_for(int64_t num_bytes) const;
};

/// The peaks with the threads that the calling thread may use.  They are measured, with loop programs that
/// this compiler compiles, until several samples of each agree, in about a second, and kept in the cache on
/// disk (driver/disk_cache.h) for other processes; `again` measures them in any case.  What is measured while
/// others use the machine, so that samples do not agree, is not kept.
///
/// The roofline model: S. Williams, A. Waterman, D. Patterson, CACM 52(4), 2009.
Peaks peaks_of_machine(bool again = false);
/// Keeps the peaks, which kernels may have raised, for other processes, if they are steady.
void keep(const Peaks& peaks);

/// True if several of the samples are as fast as the fastest, but for a twentieth.
bool are_steady(std::vector<double> speeds);
/// Makes no cache slower than the level behind it: it gives at least what that gives.
void put_levels_in_order(Peaks* peaks);

}  // namespace tilewright::explain
