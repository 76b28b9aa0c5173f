#include "tilewright/runtime/interrupt.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "tilewright/runtime/thread_pool.h"

namespace tilewright::runtime {
namespace {

std::atomic<InterruptCheck>& current() {
  static std::atomic<InterruptCheck> check{nullptr};
  return check;
}

class Work;
thread_local const Work* current_work = nullptr;  // the innermost loop that this thread is running

/// Thrown in the threads of a loop that ends early; the loop itself raises the reason.
struct Stopped {};

/// The iterations of one loop.
class Work {
 public:
  explicit Work(int64_t extent) : extent_(extent), outer_(current_work) {}

  /// True if this loop, or one that encloses it, ends early.
  bool is_stopped() const {
    return is_stopped_.load(std::memory_order_relaxed) || (outer_ && outer_->is_stopped());
  }
  void run(const std::function<void(int64_t)>& body) {
    const Work* before = std::exchange(current_work, this);
    for (int64_t n = 0; take(&n);) {
      std::exception_ptr problem;
      try {
        body(n);
      } catch (...) {
        problem = std::current_exception();
      }
      finish(problem);
    }
    current_work = before;
  }
  // Waits until no other thread runs an iteration.
  void wait_for_others() {
    constexpr auto kInterval = std::chrono::milliseconds(5);
    std::unique_lock lock(mutex_);
    while (!has_ended_.wait_for(lock, kInterval, [&] { return num_running_ == 0; })) {
      lock.unlock();
      std::exception_ptr problem;
      try {
        check_interrupt();
      } catch (...) {
        problem = std::current_exception();
      }
      lock.lock();
      if (problem) fail(problem);
    }
  }
  void raise() const {
    if (problem_) std::rethrow_exception(problem_);
  }

 private:
  bool take(int64_t* n) {
    const std::lock_guard lock(mutex_);
    if (is_stopped_ || next_ == extent_) return false;
    *n = next_++;
    ++num_running_;
    return true;
  }
  void finish(const std::exception_ptr& problem) {
    const std::lock_guard lock(mutex_);
    --num_running_;
    if (problem) fail(problem);
    has_ended_.notify_all();
  }
  void fail(const std::exception_ptr& problem) {
    if (!problem_) problem_ = problem;
    is_stopped_ = true;
  }

  const int64_t extent_;
  const Work* const outer_;
  std::mutex mutex_;
  std::condition_variable has_ended_;
  int64_t next_ = 0, num_running_ = 0;  // guarded by mutex_, like problem_
  std::exception_ptr problem_;
  std::atomic<bool> is_stopped_{false};
};

}  // namespace

void set_interrupt_check(InterruptCheck check) { current().store(check, std::memory_order_release); }

void check_interrupt() {
  if (current_work && current_work->is_stopped()) throw Stopped();
  if (const InterruptCheck check = current().load(std::memory_order_acquire)) check();
}

void interruptible_for(int64_t extent, const std::function<void(int64_t)>& body) {
  Work work(extent);
  const std::thread::id caller = std::this_thread::get_id();
  parallel_for(std::min<int64_t>(extent, num_threads()), 1, [&](int64_t, int64_t) {
    work.run(body);
    if (std::this_thread::get_id() == caller) work.wait_for_others();
  });
  work.raise();
}

}  // namespace tilewright::runtime
