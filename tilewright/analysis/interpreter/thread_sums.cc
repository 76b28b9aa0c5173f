// Sums to which the threads of a block add together: a reduction loop that is bound to threads.
#include <algorithm>

#include "tilewright/analysis/interpreter/kernel.h"

namespace tilewright::analysis {

// The thread whose numbers along `axes` are 0 and that is as `thread` otherwise.
size_t ThreadGroup::first_of_sum(size_t thread, uint32_t axes) const {
  size_t first = thread, step = 1;
  for (size_t n = 0; n < threads_.axes.size(); ++n) {
    if (axes >> n & 1) first -= step * static_cast<size_t>(threads_.value(n, static_cast<int64_t>(thread)));
    step *= static_cast<size_t>(threads_.axes[n].second);
  }
  return first;
}

const Strand* ThreadGroup::sum_strand(const Frame& frame, uint32_t axes) {
  if (!frame.thread_strand) return nullptr;
  const size_t first = first_of_sum(frame.thread, axes);
  const Strand*& strand = sum_strands_[{first, axes}];
  if (!strand) {
    Strand together = *frame.thread_strand;
    together.iteration = static_cast<int64_t>(first);
    together.summed_axes = axes;
    strand = program_.new_strand(together);
  }
  return strand;
}

std::shared_ptr<Memory> ThreadGroup::sum_memory(const Frame& frame, size_t view, uint32_t axes) {
  const size_t first = first_of_sum(frame.thread, axes);
  const auto known = std::find_if(sums_.begin(), sums_.end(), [&](const Sum& sum) {
    return sum.first == first && sum.view == view && sum.axes == axes;
  });
  if (known != sums_.end()) return known->memory;
  const Memory& own = *frame.views[view].memory;
  std::shared_ptr<Memory> together = own.empty_copy();
  together->take_contents(own);
  sums_.push_back({first, view, axes, together});
  return together;
}

void ThreadGroup::hand_out_sums() {
  for (const Sum& sum : sums_) {
    for (size_t n = 0; n < frames_.size(); ++n) {
      if (first_of_sum(n, sum.axes) != sum.first) continue;
      Memory* own = frames_[n].views[sum.view].memory.get();
      if (own && own->num_bytes == sum.memory->num_bytes) own->take_contents(*sum.memory);
    }
  }
  sums_.clear();
  sum_strands_.clear();
}

}  // namespace tilewright::analysis
