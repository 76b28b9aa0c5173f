// Sums to which the threads of a block add together: a reduction loop that is bound to threads.
#include <algorithm>

#include "tilewright/analysis/interpreter/kernel.h"
#include "tilewright/support/error.h"

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

std::shared_ptr<Memory> ThreadGroup::sum_memory(const Frame& frame, size_t view, uint32_t axes, bool is_own,
                                                const Site& where) {
  const size_t first = first_of_sum(frame.thread, axes);
  const auto known = std::find_if(sums_.begin(), sums_.end(), [&](const Sum& sum) {
    return sum.first == first && sum.view == view && sum.axes == axes;
  });
  if (known != sums_.end()) return known->memory;
  const std::shared_ptr<Memory>& before = frame.views[view].memory;
  std::shared_ptr<Memory> together = before->empty_copy();
  together->take_contents(*before);
  together->read_only = before->read_only;
  together->changed.assign(static_cast<size_t>(together->num_units()), 0);
  sums_.push_back({first, view, axes, together, is_own ? nullptr : before, sum_strand(frame, axes), &where,
                   where.at(frame)});
  return together;
}

namespace {

// The bytes of a unit of memory.
struct UnitBytes {
  int64_t begin, size;
};
UnitBytes bytes_of_unit(const Memory& memory, size_t n) {
  const int64_t begin = static_cast<int64_t>(n) * memory.unit;
  return {begin / 8, (begin + memory.unit + 7) / 8 - begin / 8};
}

void copy_unit(const Memory& from, size_t n, Memory* to) {
  const UnitBytes bytes = bytes_of_unit(from, n);
  std::copy_n(from.data + bytes.begin, bytes.size, to->data + bytes.begin);
  to->mark_written(static_cast<int64_t>(n) * to->unit, to->unit);
}

bool is_same_unit(const Memory& a, const Memory& b, size_t n) {
  const UnitBytes bytes = bytes_of_unit(a, n);
  return std::equal(a.data + bytes.begin, a.data + bytes.begin + bytes.size, b.data + bytes.begin);
}

}  // namespace

// The threads of a sum write it when they have all added their terms: to common memory, as one of them, or each to its own.
void ThreadGroup::hand_out(const Sum& sum) {
  for (size_t n = 0; n < sum.memory->changed.size(); ++n) {
    if (!sum.memory->changed[n]) continue;
    if (!sum.common) {
      for (size_t thread = 0; thread < frames_.size(); ++thread) {
        Memory* own = frames_[thread].views[sum.view].memory.get();
        if (first_of_sum(thread, sum.axes) == sum.first && own && own->num_bytes == sum.memory->num_bytes)
          copy_unit(*sum.memory, n, own);
      }
      continue;
    }
    bool was_write = false;
    const Parting part = sum.common->touch(static_cast<int64_t>(n) * sum.common->unit, sum.common->unit,
                                           sum.strand, true, &was_write);
    if (part && !(was_write && is_same_unit(*sum.memory, *sum.common, n)))
      throw UserError(sum.where->node,
                      "two threads touch element {} of {} with no barrier between: {} {} it, {} writes it{}",
                      n, sum.common->name, runner_text(part.first_access, &threads_),
                      was_write ? "writes" : "reads", runner_text(part.second_access, &threads_), sum.at);
    copy_unit(*sum.memory, n, sum.common.get());
  }
}

void ThreadGroup::hand_out_sums() {
  for (const Sum& sum : sums_) hand_out(sum);
  sums_.clear();
  sum_strands_.clear();
}

}  // namespace tilewright::analysis
