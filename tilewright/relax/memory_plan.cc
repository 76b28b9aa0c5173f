#include "tilewright/relax/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tilewright::relax {
namespace {

int64_t aligned(int64_t bytes, int64_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }

bool overlap(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

// The lowest offset where `size` bytes fit between the `taken` ranges [begin, end), which are sorted by
// begin.
int64_t lowest_gap(const std::vector<std::pair<int64_t, int64_t>>& taken, int64_t size) {
  int64_t offset = 0;
  for (const auto& [begin, end] : taken) {
    if (begin - offset >= size) return offset;
    offset = std::max(offset, end);
  }
  return offset;
}

int64_t most_alive_bytes(const std::vector<Lifetime>& tensors, int64_t alignment) {
  int64_t most = 0;
  // the maximum is reached where some tensor begins
  for (const Lifetime& at : tensors) {
    int64_t sum = 0;
    for (const Lifetime& tensor : tensors) {
      if (tensor.first <= at.first && at.first <= tensor.last) sum += aligned(tensor.num_bytes, alignment);
    }
    most = std::max(most, sum);
  }
  return most;
}

}  // namespace

MemoryPlan plan_memory(std::vector<Lifetime> tensors, int64_t alignment) {
  MemoryPlan plan;
  plan.offsets.assign(tensors.size(), 0);
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return tensors[a].num_bytes != tensors[b].num_bytes ? tensors[a].num_bytes > tensors[b].num_bytes : a < b;
  });
  std::vector<size_t> placed;
  for (size_t n : order) {
    std::vector<std::pair<int64_t, int64_t>> taken;
    for (size_t other : placed) {
      if (overlap(tensors[n], tensors[other]))
        taken.emplace_back(plan.offsets[other],
                           plan.offsets[other] + aligned(tensors[other].num_bytes, alignment));
    }
    std::sort(taken.begin(), taken.end());
    const int64_t size = aligned(tensors[n].num_bytes, alignment);
    plan.offsets[n] = lowest_gap(taken, size);
    plan.peak_bytes = std::max(plan.peak_bytes, plan.offsets[n] + size);
    placed.push_back(n);
  }
  plan.lower_bound_bytes = most_alive_bytes(tensors, alignment);
  plan.tensors = std::move(tensors);
  return plan;
}

std::string MemoryPlan::str() const {
  std::string text;
  for (size_t n = 0; n < tensors.size(); ++n)
    text += fmt::format("{:<24} {:>10} bytes at {:>10}, steps {} to {}\n", tensors[n].name,
                        tensors[n].num_bytes, offsets[n], tensors[n].first, tensors[n].last);
  const double gap = lower_bound_bytes ? 100.0 * static_cast<double>(peak_bytes - lower_bound_bytes) /
                                             static_cast<double>(lower_bound_bytes)
                                       : 0;
  return text +
         fmt::format("peak {} bytes, lower bound {} bytes, gap {:.1f} %", peak_bytes, lower_bound_bytes, gap);
}

}  // namespace tilewright::relax
