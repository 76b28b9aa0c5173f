// Offsets of the tensors of one call in its arena, such that tensors live at the same time never overlap.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/runtime/device.h"

namespace tilewright::relax {

/// A tensor that needs memory from step `first` to step `last`, both included.
struct Lifetime {
  std::string name;  // for the report
  int64_t num_bytes = 0;
  int64_t first = 0, last = 0;
};

struct MemoryPlan {
  std::vector<Lifetime> tensors;
  std::vector<int64_t> offsets;   // bytes, one per tensor, multiples of `alignment`
  int64_t peak_bytes = 0;         // size of the arena
  int64_t lower_bound_bytes = 0;  // most bytes live at one step: no plan can be smaller
  /// One line per tensor, then the peak, the lower bound and the gap between them.
  std::string str() const;
};

/// Offsets for `tensors`: in some order, each at the lowest offset that is free during its lifetime.  Several
/// orders (by size, by size and time, by time) are tried and improved until the peak equals the lower bound
/// or the limit of attempts is reached.
MemoryPlan plan_memory(std::vector<Lifetime> tensors, int64_t alignment = runtime::kTensorAlignment);

/// The most bytes live at one step, each tensor rounded up to `alignment`.
int64_t most_alive_bytes(const std::vector<Lifetime>& tensors, int64_t alignment);

}  // namespace tilewright::relax
