#include "tilewright/relax/memory/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tilewright::relax {
namespace {

int64_t aligned(int64_t bytes, int64_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }

bool overlap(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

// The lowest offset at which `size` bytes fit between the `taken` ranges [begin, end),
// which are sorted by begin.
int64_t lowest_gap(const std::vector<std::pair<int64_t, int64_t>>& taken, int64_t size) {
  int64_t offset = 0;
  for (const auto& [begin, end] : taken) {
    if (begin - offset >= size) return offset;
    offset = std::max(offset, end);
  }
  return offset;
}

struct Placement {
  std::vector<int64_t> offsets;
  int64_t peak_bytes = 0;
};

using Order = std::vector<size_t>;

// Places each tensor of `order` at the lowest offset that is free during its lifetime.
Placement place(const std::vector<Lifetime>& tensors, const Order& order, int64_t alignment) {
  Placement result{.offsets = std::vector<int64_t>(tensors.size(), 0)};
  std::vector<std::pair<int64_t, int64_t>> taken;
  for (size_t index = 0; index < order.size(); ++index) {
    const size_t n = order[index];
    taken.clear();
    for (size_t before = 0; before < index; ++before) {
      const size_t other = order[before];
      if (overlap(tensors[n], tensors[other]))
        taken.emplace_back(result.offsets[other],
                           result.offsets[other] + aligned(tensors[other].num_bytes, alignment));
    }
    std::sort(taken.begin(), taken.end());
    const int64_t size = aligned(tensors[n].num_bytes, alignment);
    result.offsets[n] = lowest_gap(taken, size);
    result.peak_bytes = std::max(result.peak_bytes, result.offsets[n] + size);
  }
  return result;
}

// The order of the tensors, largest `weight` first.
template <class Weight>
Order order_by(size_t count, Weight weight) {
  Order order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return weight(a) != weight(b) ? weight(a) > weight(b) : a < b; });
  return order;
}

std::vector<Order> usual_orders(const std::vector<Lifetime>& tensors) {
  auto steps = [&](size_t n) { return tensors[n].last - tensors[n].first + 1; };
  return {order_by(tensors.size(), [&](size_t n) { return tensors[n].num_bytes; }),
          order_by(tensors.size(), [&](size_t n) { return tensors[n].num_bytes * steps(n); }),
          order_by(tensors.size(), [&](size_t n) { return -tensors[n].first; }),
          order_by(tensors.size(), [&](size_t n) { return tensors[n].last; })};
}

// A tensor at the peak is moved half way to the front of the order, repeatedly, as long as the result is no
// worse.  This would take too long for more tensors.
constexpr size_t kMostToImprove = 1000;
constexpr int64_t kMostPlacements = 5'000'000;  // pairs of tensors that are compared

void improve(const std::vector<Lifetime>& tensors, int64_t alignment, int64_t goal, Order order,
             Placement* best) {
  const auto pairs = static_cast<int64_t>(tensors.size() * tensors.size());
  Placement current = place(tensors, order, alignment);
  for (int64_t tries = kMostPlacements / std::max<int64_t>(pairs, 1); tries > 0; --tries) {
    if (current.peak_bytes < best->peak_bytes) *best = current;
    if (best->peak_bytes <= goal) return;
    auto at_peak = std::find_if(order.begin(), order.end(), [&](size_t n) {
      return current.offsets[n] + aligned(tensors[n].num_bytes, alignment) == current.peak_bytes;
    });
    if (at_peak == order.begin()) return;
    std::rotate(order.begin() + (at_peak - order.begin()) / 2, at_peak, at_peak + 1);
    current = place(tensors, order, alignment);
  }
}

}  // namespace

int64_t most_alive_bytes(const std::vector<Lifetime>& tensors, int64_t alignment) {
  int64_t most = 0;
  // the maximum is reached at the first step of some tensor
  for (const Lifetime& at : tensors) {
    int64_t sum = 0;
    for (const Lifetime& tensor : tensors) {
      if (tensor.first <= at.first && at.first <= tensor.last) sum += aligned(tensor.num_bytes, alignment);
    }
    most = std::max(most, sum);
  }
  return most;
}

MemoryPlan plan_memory(std::vector<Lifetime> tensors, int64_t alignment) {
  MemoryPlan plan;
  plan.lower_bound_bytes = most_alive_bytes(tensors, alignment);
  const std::vector<Order> orders = usual_orders(tensors);
  Placement best = place(tensors, orders[0], alignment);
  for (const Order& order : orders) {
    if (best.peak_bytes <= plan.lower_bound_bytes || tensors.size() > kMostToImprove) break;
    improve(tensors, alignment, plan.lower_bound_bytes, order, &best);
  }
  plan.offsets = std::move(best.offsets);
  plan.peak_bytes = best.peak_bytes;
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
