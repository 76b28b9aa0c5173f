// The thread pool of the process, which every parallel loop shares.  It is cooperative: the caller of a loop
// works on it too, workers take ranges from any loop that has unclaimed iterations, nested loops included.  A
// loop always completes, even if no worker has time for it.
#pragma once
#include <cstdint>
#include <exception>
#include <type_traits>

#include "tilewright/runtime/kernel_abi.h"

namespace tilewright::runtime {

/// The maximum number of threads of a loop.
inline constexpr int kMaxThreads = 1024;

/// The number of threads a loop may use unless set_num_threads changes it: TILEWRIGHT_NUM_THREADS if set,
/// else the number of CPUs that the affinity mask and the cgroup quota of this process allow.  Raises
/// UserError if TILEWRIGHT_NUM_THREADS is not a number from 1 to 1024.
int default_num_threads();
/// The number of threads that loops started by the calling thread may use, itself included.
int num_threads();
/// Sets that number, 1 to 1024, for the calling thread; 0 restores the default.  Raises UserError for other
/// values. Nested loops inherit the number of the outer one.
void set_num_threads(int count);

/// Sets the number of threads during its lifetime.
class ThreadScope {
 public:
  explicit ThreadScope(int count);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int previous_;
};

/// Implements TilewrightHost::parallel_for; never raises.
int32_t parallel_for(TilewrightParallelBody body, void* closure, int64_t extent, int64_t grain) noexcept;

namespace thread_pool_detail {
[[noreturn]] void raise();
void keep_exception() noexcept;
}  // namespace thread_pool_detail

/// Calls body(begin, end) on disjoint ranges that cover 0 .. extent-1, each of at least `grain` iterations
/// except for the last.  If a call throws, the ranges that have begun are completed, others are skipped, and
/// the exception is raised here.
template <class Body>
  requires std::is_invocable_v<Body&, int64_t, int64_t>
void parallel_for(int64_t extent, int64_t grain, Body&& body) {
  using Callable = std::remove_reference_t<Body>;
  auto call = [](void* closure, int64_t begin, int64_t end) -> int32_t {
    try {
      (*static_cast<Callable*>(closure))(begin, end);
      return 0;
    } catch (...) {
      thread_pool_detail::keep_exception();
      return -1;
    }
  };
  void* closure = const_cast<std::remove_const_t<Callable>*>(&body);
  if (parallel_for(call, closure, extent, grain) != 0) thread_pool_detail::raise();
}

}  // namespace tilewright::runtime
