// Figures of processor cores from manuals, by the names that LLVM gives them.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "tilewright/target/features.h"

namespace tilewright::target {

/// Units that work on vectors of one kind of instruction.
struct Units {
  int64_t count = 0;  // instructions that start in a cycle, whatever their width
  int64_t bits = 0;   // that all of them take together

  /// Instructions on vectors of `vector_bits` that start in a cycle.
  double per_cycle(int64_t vector_bits) const {
    return std::min(static_cast<double>(count), static_cast<double>(bits) / static_cast<double>(vector_bits));
  }
};

struct Core {
  std::string_view name;  // LLVM's -mcpu
  int64_t l1_bytes = 32 << 10;
  int64_t l1_ways = 8;
  int64_t l2_bytes = 512 << 10;  // divided by the cores that share it
  Units multiply_adds = {};      // of float32; a count of 0: the manual does not say
  int64_t fma_latency = 4;       // from sum to sum, where that is shorter than from factor to sum
  Units loads = {}, stores = {};
  int64_t issue_width = 4;
  std::string_view source = "";
  int64_t line_bytes = 0, l2_bytes_per_cycle = 0;  // 0: those of a common core

  /// Nothing if the manual does not say.
  std::optional<Rates> rates(int64_t vector_bits) const;
};

/// All cores that are known.
std::span<const Core> all_cores();
/// Null if the name is none of them.
const Core* find_core(std::string_view name);

}  // namespace tilewright::target
