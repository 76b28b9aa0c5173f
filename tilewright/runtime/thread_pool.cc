// How it works: a loop is a Job on its caller's stack, which is in the pool's list while it has unclaimed
// iterations. Workers look for a listed job under the mutex, join it, and claim ranges of iterations.  The
// caller claims ranges as well, then removes the job from the list and waits for the workers that joined.
// Workers without a job spin for some microseconds, because the next kernel usually follows at once, then
// sleep until the epoch changes.
//
// Each thread first claims from its own share of the iterations, which is the same part of every loop, so
// that its cache holds what it wrote in the loop before.  Then it helps with the shares of the others.
#include "tilewright/runtime/thread_pool.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "tilewright/runtime/cpu_count.h"
#include "tilewright/runtime/device.h"
#include "tilewright/runtime/error_state.h"
#include "tilewright/support/error.h"

namespace tilewright::runtime {
namespace {

constexpr int kSpins = 1500;  // about 20 to 60 us
constexpr int64_t kRangesPerThread = 4;
constexpr int kMaxShares = 64;  // with more threads, several begin with the same share

void pause_cpu() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// The length of a range, a multiple of `grain`: small enough to balance threads of different speed, large
// enough to be worth a claim.
int64_t range_length(int64_t extent, int64_t grain, int num_threads) {
  const int64_t even = (extent - 1) / (num_threads * kRangesPerThread) + 1;
  return ((even - 1) / grain + 1) * grain;
}

// The unclaimed iterations next .. end-1 of one share, on a cache line of its own.
struct alignas(kTensorAlignment) Share {
  int64_t next, end;
  std::atomic_ref<int64_t> claimed() { return std::atomic_ref(next); }
  bool has_work() { return claimed().load(std::memory_order_relaxed) < end; }
};

struct Job {
  Job(TilewrightParallelBody body, void* closure, int64_t extent, int64_t grain, int max_threads)
      : body(body),
        closure(closure),
        range(range_length(extent, grain, max_threads)),
        max_threads(max_threads),
        num_ranges((extent - 1) / range + 1),
        num_shares(std::min(max_threads, kMaxShares)) {
    const int64_t num_grains = (extent - 1) / grain + 1, longer = num_grains % num_shares;
    // the last shares are the longer ones, because the last iterations of a loop often have less work
    for (int64_t n = 0, begin = 0; n < num_shares; ++n) {
      const int64_t end = begin + (num_grains / num_shares + (n >= num_shares - longer ? 1 : 0)) * grain;
      shares[n] = {begin, std::min(end, extent)};
      begin = end;
    }
  }
  TilewrightParallelBody body;
  void* closure;
  int64_t range;    // iterations claimed at once
  int max_threads;  // including the caller
  int64_t num_ranges;
  int num_shares;
  std::atomic<int> num_inside{0};  // workers that joined and have not left
  int num_joined = 0;              // total so far; guarded by the pool's mutex
  std::mutex error_mutex;
  std::exception_ptr error;
  std::atomic<bool> failed{false};
  Share shares[kMaxShares];  // the first num_shares are in use

  bool has_work() {
    return std::any_of(shares, shares + num_shares, [](Share& share) { return share.has_work(); });
  }
};

// The limit set by set_num_threads; 0 is the default.  A worker has the limit of its current job.
thread_local int thread_limit = 0;
// The number of this worker thread, from 1; 0: not a worker.
thread_local int worker_number = 0;

void fail(Job& job) {
  std::exception_ptr error = take_current_error();
  std::lock_guard lock(job.error_mutex);
  if (!job.failed.load(std::memory_order_relaxed)) job.error = std::move(error);
  job.failed.store(true, std::memory_order_relaxed);
  for (int n = 0; n < job.num_shares; ++n) {  // no further iterations begin
    job.shares[n].claimed().store(job.shares[n].end, std::memory_order_relaxed);
  }
}

void work_on(Job& job, Share& share) {
  // a failed job's shares are set to their ends; later additions cannot come near an overflow
  while (share.has_work()) {
    const int64_t begin = share.claimed().fetch_add(job.range, std::memory_order_relaxed);
    if (begin >= share.end || job.failed.load(std::memory_order_relaxed)) return;
    const int64_t end = share.end - begin < job.range ? share.end : begin + job.range;
    if (job.body(job.closure, begin, end) != 0) fail(job);
  }
}

// The share that this thread begins with: the one of its number, or `otherwise` if the job has fewer threads.
int first_share(const Job& job, int otherwise) {
  return (worker_number < job.max_threads ? worker_number : otherwise) % job.num_shares;
}

// Works on all shares, beginning with `first`.
void work_on(Job& job, int first) {
  for (int n = 0; n < job.num_shares; ++n) work_on(job, job.shares[(first + n) % job.num_shares]);
}

class Pool {
 public:
  void run(Job& job) {
    publish(job);
    work_on(job, first_share(job, 0));
    withdraw(job);
    wait_until_alone(job);
  }

 private:
  void publish(Job& job) {
    const int num_helpers = static_cast<int>(std::min<int64_t>(job.max_threads, job.num_ranges)) - 1;
    int num_workers = 0;
    {
      std::lock_guard lock(mutex_);
      jobs_.push_back(&job);
      while (num_workers_ < num_helpers && start_worker(num_workers_ + 1)) ++num_workers_;
      num_workers = num_workers_;
    }
    epoch_.fetch_add(1, std::memory_order_seq_cst);
    if (num_helpers >= num_workers) return epoch_.notify_all();
    for (int n = 0; n < num_helpers; ++n) epoch_.notify_one();
  }

  void withdraw(Job& job) {
    std::lock_guard lock(mutex_);
    jobs_.erase(std::find(jobs_.begin(), jobs_.end(), &job));
  }

  // No worker can join any more; waits until those inside finish their range.
  void wait_until_alone(Job& job) {
    for (int n = 0; n < kSpins; ++n) {
      if (job.num_inside.load(std::memory_order_acquire) == 0) return;
      pause_cpu();
    }
    for (;;) {
      // read before the job is checked, so that a departure between the two is not missed
      const uint32_t seen = departures_.load(std::memory_order_seq_cst);
      if (job.num_inside.load(std::memory_order_acquire) == 0) return;
      departures_.wait(seen, std::memory_order_seq_cst);
    }
  }

  // Starts a worker and returns true if the system provided the thread.  Signals are handled by the program's
  // threads.
  bool start_worker(int number) {
    sigset_t all, previous;
    sigfillset(&all);
    // signals that a thread causes itself stay unblocked, so that crash handlers see them
    for (const int own : {SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS}) sigdelset(&all, own);
    pthread_sigmask(SIG_SETMASK, &all, &previous);
    bool is_started = true;
    try {
      std::thread([this, number] { serve(number); }).detach();
    } catch (const std::system_error&) {
      is_started = false;
    }
    pthread_sigmask(SIG_SETMASK, &previous, nullptr);
    return is_started;
  }

  // The oldest job that lacks threads (so an outer loop comes before the loops inside it), and this thread's
  // share of it.
  std::pair<Job*, int> join_job() {
    std::lock_guard lock(mutex_);
    for (Job* job : jobs_) {
      if (!job->has_work() || job->num_joined + 1 >= job->max_threads) continue;
      ++job->num_joined;
      job->num_inside.fetch_add(1, std::memory_order_relaxed);
      return {job, first_share(*job, job->num_joined)};
    }
    return {nullptr, 0};
  }

  // Decrementing the count is the last access to a job: its memory, the caller's stack, may be gone right
  // after.
  void leave_job(Job& job) {
    job.num_inside.fetch_sub(1, std::memory_order_release);
    departures_.fetch_add(1, std::memory_order_seq_cst);
    departures_.notify_all();
  }

  [[noreturn]] void serve(int number) {
    worker_number = number;
    for (;;) {
      // read before the list is checked, so that a job listed between the two is not missed
      const uint32_t seen = epoch_.load(std::memory_order_seq_cst);
      if (const auto [job, share] = join_job(); job) {
        thread_limit = job->max_threads;
        work_on(*job, share);
        leave_job(*job);
      } else {
        wait_for_epoch_after(seen);
      }
    }
  }

  void wait_for_epoch_after(uint32_t seen) {
    for (int n = 0; n < kSpins; ++n) {
      if (epoch_.load(std::memory_order_relaxed) != seen) return;
      pause_cpu();
    }
    epoch_.wait(seen, std::memory_order_seq_cst);
  }

  std::mutex mutex_;
  std::vector<Job*> jobs_;               // guarded by mutex_
  int num_workers_ = 0;                  // guarded by mutex_
  std::atomic<uint32_t> epoch_{0};       // number of published jobs
  std::atomic<uint32_t> departures_{0};  // number of times a worker left a job
};

// One per process on purpose: loops of all libraries share the CPUs.  Never destroyed, because workers never
// end.
std::atomic<Pool*> current_pool{nullptr};
std::atomic<Pool*> pool_of_parent{nullptr};

// A forked child has no workers, and perhaps a locked mutex: it starts with a new pool.
void forget_pool_in_child() { pool_of_parent.store(current_pool.exchange(nullptr)); }

Pool& pool() {
  if (Pool* existing = current_pool.load(std::memory_order_acquire)) return *existing;
  static const int registered = pthread_atfork(nullptr, nullptr, forget_pool_in_child);
  (void)registered;
  Pool* existing = nullptr;
  auto created = std::make_unique<Pool>();
  if (!current_pool.compare_exchange_strong(existing, created.get(), std::memory_order_acq_rel))
    return *existing;
  return *created.release();
}

int read_default() {
  const char* text = std::getenv("TILEWRIGHT_NUM_THREADS");
  if (!text || !*text) return count_usable_cpus();
  const std::string_view digits = text;
  int count = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (error != std::errc() || end != digits.data() + digits.size() || count < 1 || count > kMaxThreads) {
    throw UserError("TILEWRIGHT_NUM_THREADS is \"{}\", expected a number from 1 to {}", text, kMaxThreads);
  }
  return count;
}

int32_t run(TilewrightParallelBody body, void* closure, int64_t extent, int64_t grain) {
  const int threads = num_threads();
  constexpr int64_t kMaxShared = int64_t{1} << 48;  // keeps the claim counters far from overflow
  grain = std::max<int64_t>(grain, 1);
  if (threads == 1 || extent <= grain || extent > kMaxShared) return body(closure, 0, extent);
  Job job(body, closure, extent, grain, threads);
  pool().run(job);
  if (!job.failed.load(std::memory_order_relaxed)) return 0;
  set_current_error(job.error);
  return -1;
}

}  // namespace

int default_num_threads() {
  static const int count = read_default();
  return count;
}

int num_threads() { return thread_limit > 0 ? thread_limit : default_num_threads(); }

void set_num_threads(int count) {
  if (count < 0 || count > kMaxThreads) {
    throw UserError("the number of threads is {}, expected 1 to {}, or 0 for the default", count,
                    kMaxThreads);
  }
  thread_limit = count;
}

ThreadScope::ThreadScope(int count) : previous_(thread_limit) { set_num_threads(count); }
ThreadScope::~ThreadScope() { thread_limit = previous_; }

int32_t parallel_for(TilewrightParallelBody body, void* closure, int64_t extent, int64_t grain) noexcept {
  if (extent <= 0) return 0;
  try {
    return run(body, closure, extent, grain);
  } catch (...) {
    set_current_error(std::current_exception());
    return -1;
  }
}

namespace thread_pool_detail {
void raise() { raise_current_error("a parallel loop"); }
void keep_exception() noexcept { set_current_error(std::current_exception()); }
}  // namespace thread_pool_detail

}  // namespace tilewright::runtime
