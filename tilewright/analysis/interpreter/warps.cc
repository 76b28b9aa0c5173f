// Warps: threads that meet for an operation, while the other warps of the block go on.
#include <fmt/ranges.h>

#include <algorithm>

#include "tilewright/analysis/interpreter/kernel.h"
#include "tilewright/ir/services.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/tir.h"

namespace tilewright::analysis {
namespace {

constexpr size_t kMaxNamed = 3;  // threads in a message

size_t first_of_warp(size_t thread, const WarpCall& call) {
  return thread - thread % static_cast<size_t>(call.warp_size);
}

bool is_same_call(const WarpCall& a, const WarpCall& b) {
  return a.site == b.site && a.mask == b.mask && a.warp_size == b.warp_size;
}

std::string name_of(const Site* site) {
  const auto* call = site->node.as<tir::CallNode>();
  const auto* op = call ? call->op.as<ir::OpNode>() : nullptr;
  return op ? op->name.substr(op->name.find('.') + 1) : "an operation of warps";
}

}  // namespace

bool ThreadGroup::has_lane(const Frame& frame, int64_t lane, int64_t warp_size) const {
  const int64_t first = static_cast<int64_t>(frame.thread) / warp_size * warp_size;
  return lane >= 0 && lane < warp_size && first + lane < threads_.size();
}

std::shared_ptr<const WarpMeeting> ThreadGroup::meet(Frame& frame, WarpCall call) {
  warp_calls_[frame.thread] = std::move(call);
  fibers_.pause();
  return std::move(meetings_[frame.thread]);
}

// The threads of the warp of `thread` that wait at the same call.
std::vector<size_t> ThreadGroup::threads_at(const WarpCall& call, size_t thread) const {
  std::vector<size_t> here;
  const size_t first = first_of_warp(thread, call);
  for (size_t n = first; n < std::min(first + static_cast<size_t>(call.warp_size), frames_.size()); ++n) {
    if (warp_calls_[n].site && is_same_call(warp_calls_[n], call)) here.push_back(n);
  }
  return here;
}

bool ThreadGroup::is_complete(const WarpCall& call, size_t thread, const std::vector<size_t>& here) const {
  if (call.takes_who_comes) return true;
  const size_t first = first_of_warp(thread, call);
  size_t num_named = 0;
  for (size_t n = first; n < std::min(first + static_cast<size_t>(call.warp_size), frames_.size()); ++n)
    num_named += call.mask >> (n - first) & 1;
  return num_named == here.size();
}

void ThreadGroup::finish(const WarpCall& call, const std::vector<size_t>& here) {
  auto meeting = std::make_shared<WarpMeeting>();
  meeting->values.resize(static_cast<size_t>(call.warp_size));
  for (const size_t n : here) {
    const size_t lane = n % static_cast<size_t>(call.warp_size);
    meeting->lanes |= uint32_t{1} << lane;
    meeting->values[lane] = std::move(warp_calls_[n].values);
  }
  const uint64_t run = ++program_.num_runs;
  const bool is_barrier = call.is_barrier;
  for (const size_t n : here) {
    warp_calls_[n] = {};
    meetings_[n] = meeting;
    if (is_barrier)
      begin_strand(n, frames_[n].thread_strand ? frames_[n].thread_strand->parent : nullptr, run);
  }
  for (const size_t n : here) resume(n);
}

// Lets those go on that have all met for whom they wait; returns false if there are none.
bool ThreadGroup::finish_warp_calls(bool takes_who_comes) {
  bool goes_on = false;
  for (size_t n = 0; n < frames_.size(); ++n) {
    const WarpCall call = warp_calls_[n];
    if (!call.site || call.takes_who_comes != takes_who_comes) continue;
    const std::vector<size_t> here = threads_at(call, n);
    if (!is_complete(call, n, here)) continue;
    finish(call, here);
    goes_on = true;
  }
  return goes_on;
}

void ThreadGroup::require_no_warp_waits() const {
  const auto waits = std::find_if(warp_calls_.begin(), warp_calls_.end(),
                                  [](const WarpCall& call) { return call.site != nullptr; });
  if (waits == warp_calls_.end()) return;
  const auto thread = static_cast<size_t>(waits - warp_calls_.begin());
  const size_t first = first_of_warp(thread, *waits);
  std::vector<std::string> missing;
  size_t num_missing = 0;
  for (size_t n = first; n < std::min(first + static_cast<size_t>(waits->warp_size), frames_.size()); ++n) {
    if (!(waits->mask >> (n - first) & 1) || (warp_calls_[n].site && is_same_call(warp_calls_[n], *waits)))
      continue;
    if (++num_missing <= kMaxNamed)
      missing.push_back(threads_.text(static_cast<int64_t>(n)) +
                        (fibers_.has_ended(n) ? " has ended" : " waits at another place"));
  }
  if (num_missing > kMaxNamed) missing.push_back(fmt::format("and {} more", num_missing - kMaxNamed));
  throw UserError(waits->site->node, "{}: {} waits for threads of its warp that do not come: {}{}",
                  name_of(waits->site), threads_.text(static_cast<int64_t>(thread)), fmt::join(missing, ", "),
                  waits->site->at(frames_[thread]))
      .help("let all threads that the mask names run the call, or name only those that do");
}

}  // namespace tilewright::analysis
