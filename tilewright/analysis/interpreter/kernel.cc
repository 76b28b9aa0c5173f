#include "tilewright/analysis/interpreter/kernel.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "tilewright/support/error.h"

namespace tilewright::analysis {

int64_t Grid::size() const {
  int64_t size = 1;
  for (const auto& [tag, extent] : axes) size *= extent;
  return size;
}

int64_t Grid::value(size_t n, int64_t linear) const {
  for (size_t axis = 0; axis < n; ++axis) linear /= axes[axis].second;
  return linear % axes[n].second;
}

std::string Grid::text(int64_t linear, uint32_t summed_axes) const {
  std::vector<std::string> values, summed;
  for (size_t n = 0; n < axes.size(); ++n) {
    if (summed_axes >> n & 1)
      summed.push_back(axes[n].first);
    else
      values.push_back(fmt::format("{} = {}", axes[n].first, value(n, linear)));
  }
  if (summed.empty()) return fmt::format("{}", fmt::join(values, ", "));
  return fmt::format("the sum over {}{}{}", fmt::join(summed, ", "), values.empty() ? "" : " at ",
                     fmt::join(values, ", "));
}

std::string runner_text(const Strand* access, const Grid* grid) {
  while (access->grid != grid) access = access->parent;
  return grid->text(access->iteration, access->summed_axes);
}

ThreadGroup::ThreadGroup(Program& program, Grid threads)
    : program_(program), threads_(std::move(threads)), fibers_(static_cast<size_t>(threads_.size())) {}

void ThreadGroup::run(const Frame& frame, const Strand* block, const std::vector<OwnBuffer>& own,
                      const std::function<void(Frame&)>& body) {
  frames_.assign(fibers_.size(), frame);
  waiting_.assign(fibers_.size(), nullptr);
  warp_calls_.assign(fibers_.size(), {});
  meetings_.assign(fibers_.size(), nullptr);
  shared_.clear();
  sums_.clear();
  for (size_t n = 0; n < frames_.size(); ++n) {
    Frame& mine = frames_[n];
    mine.group = this;
    mine.thread = n;
    mine.pool.assign(mine.pool.size(), nullptr);
    for (const OwnBuffer& buffer : own) {
      View& view = mine.views[buffer.view];
      const size_t first = buffer.of_warp ? n - n % static_cast<size_t>(kWarpSize) : n;
      view.memory = first == n ? view.memory->empty_copy() : frames_[first].views[buffer.view].memory;
      mine.slots[buffer.data].memory = view.memory.get();
    }
  }
  copies_.reset(frames_.size());
  fibers_.start([&](size_t n) {
    body(frames_[n]);
    copies_.require_none(n);
  });
  while (begin_epoch(block)) {
    for (size_t n = 0; n < fibers_.size(); ++n) {
      if (!fibers_.has_ended(n)) resume(n);
    }
    while (finish_warp_calls(false) || finish_warp_calls(true)) {
    }
    require_no_warp_waits();
    require_all_at_one_barrier();
  }
}

void ThreadGroup::resume(size_t thread) {
  waiting_[thread] = nullptr;
  fibers_.resume(thread);
}

// Between two barriers all warps are iterations of one run of a loop, as far as races are concerned, and so are the threads
// of a warp between two of its own barriers.
bool ThreadGroup::begin_epoch(const Strand* block) {
  hand_out_sums();
  const uint64_t run = ++program_.num_runs;
  const uint64_t run_of_warp = ++program_.num_runs;
  bool is_any_left = false;
  const Strand* warp = nullptr;
  for (size_t n = 0; n < frames_.size(); ++n) {
    if (fibers_.has_ended(n)) continue;
    is_any_left = true;
    const auto number = static_cast<int64_t>(n) / kWarpSize;
    if (program_.options.check_races && (!warp || warp->iteration != number))
      warp = program_.new_strand({block, run, number, 0, nullptr, &threads_});
    begin_strand(n, warp, run_of_warp);
  }
  return is_any_left;
}

void ThreadGroup::begin_strand(size_t thread, const Strand* parent, uint64_t run) {
  Frame& frame = frames_[thread];
  ++frame.epoch;
  if (program_.options.check_races)
    frame.strand = frame.thread_strand =
        program_.new_strand({parent, run, static_cast<int64_t>(thread), 0, nullptr, &threads_});
}

void ThreadGroup::require_all_at_one_barrier() const {
  const auto waits =
      std::find_if(waiting_.begin(), waiting_.end(), [](const Site* site) { return site != nullptr; });
  if (waits == waiting_.end()) return;
  const auto other =
      std::find_if(waiting_.begin(), waiting_.end(), [&](const Site* site) { return site != *waits; });
  if (other == waiting_.end()) return;
  const auto first = waits - waiting_.begin(), second = other - waiting_.begin();
  throw UserError((*waits)->node,
                  "the threads of a block do not all reach this barrier: {} waits at it, {} {}{}",
                  threads_.text(first), threads_.text(second),
                  fibers_.has_ended(static_cast<size_t>(second)) ? "has ended" : "waits at another one",
                  (*waits)->at(frames_[static_cast<size_t>(first)]))
      .help("move the barrier out of what only some threads run");
}

void ThreadGroup::meet(Frame& frame, const Site* site) {
  waiting_[frame.thread] = site;
  fibers_.pause();
}

std::pair<std::shared_ptr<Memory>, bool> ThreadGroup::shared(const Frame& frame, size_t n, bool of_warp) {
  Shared& shared = shared_[{n, of_warp ? 1 + frame.thread / static_cast<size_t>(kWarpSize) : 0}];
  shared.times.resize(frames_.size());
  const int64_t time = ++shared.times[frame.thread];
  const bool is_first = time > shared.made;
  if (is_first) {
    shared.made = time;
    shared.memory = std::make_shared<Memory>();
  }
  return {shared.memory, is_first};
}

}  // namespace tilewright::analysis
