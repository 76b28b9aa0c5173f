#include "tilewright/runtime/thread_pool.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

#include "expect_error.h"
#include "tilewright/runtime/cpu_count.h"
#include "tilewright/runtime/error_state.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TILEWRIGHT_UNDER_TSAN 1
#endif
#endif

namespace tilewright::runtime {
namespace {

// How often each iteration was run.
std::vector<int> visits(int64_t extent, int64_t grain) {
  std::vector<int> counts(static_cast<size_t>(extent));
  parallel_for(extent, grain, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) ++counts[static_cast<size_t>(n)];
  });
  return counts;
}

TEST(ThreadPool, EveryIterationOnce) {
  ThreadScope threads(4);
  for (int64_t extent : {1, 2, 5, 7, 127, 1001}) {
    for (int64_t grain : {1, 3, 50})
      EXPECT_EQ(visits(extent, grain), std::vector<int>(static_cast<size_t>(extent), 1));
  }
  EXPECT_TRUE(visits(0, 1).empty());
}

TEST(ThreadPool, GrainBoundsTheRanges) {
  ThreadScope threads(3);
  std::atomic<int> num_short{0};
  parallel_for(100, 7, [&](int64_t begin, int64_t end) { num_short += end - begin < 7; });
  EXPECT_LE(num_short.load(), 1);
}

TEST(ThreadPool, ThreadsBeginWithTheirOwnShares) {
  ThreadScope threads(2);
  for (int round = 0; round < 20; ++round) {
    std::mutex mutex;
    std::map<std::thread::id, int64_t> first;
    std::atomic<int> num_threads{0};
    parallel_for(100, 1, [&](int64_t begin, int64_t) {
      bool is_first = false;
      {
        std::lock_guard lock(mutex);
        is_first = first.emplace(std::this_thread::get_id(), begin).second;
      }
      if (!is_first) return;
      ++num_threads;
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (num_threads.load() < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    });
    ASSERT_EQ(first.size(), 2u);
    for (const auto& [thread, begin] : first) EXPECT_EQ(begin, thread == std::this_thread::get_id() ? 0 : 50);
  }
}

TEST(ThreadPool, OneThreadRunsInOneRange) {
  ThreadScope threads(1);
  int num_calls = 0;
  parallel_for(1000, 1, [&](int64_t begin, int64_t end) {
    ++num_calls;
    EXPECT_EQ(end - begin, 1000);
  });
  EXPECT_EQ(num_calls, 1);
}

TEST(ThreadPool, NestedLoopsComplete) {
  ThreadScope threads(4);
  std::atomic<int64_t> total{0};
  parallel_for(5, 1, [&](int64_t begin, int64_t end) {
    for (int64_t outer = begin; outer < end; ++outer) {
      parallel_for(7, 1, [&](int64_t b, int64_t e) {
        for (int64_t middle = b; middle < e; ++middle) {
          parallel_for(127, 1, [&](int64_t first, int64_t last) { total += last - first; });
        }
      });
    }
  });
  EXPECT_EQ(total.load(), 5 * 7 * 127);
}

TEST(ThreadPool, NestedLoopsInheritTheNumberOfThreads) {
  ThreadScope threads(3);
  std::atomic<bool> is_same{true};
  parallel_for(50, 1, [&](int64_t, int64_t) {
    if (num_threads() != 3) is_same = false;
  });
  EXPECT_TRUE(is_same.load());
}

TEST(ThreadPool, ManyCallersAtOnce) {
  std::vector<std::thread> callers;
  std::atomic<int64_t> total{0};
  for (int caller = 0; caller < 5; ++caller) {
    callers.emplace_back([&] {
      ThreadScope threads(3);
      for (int round = 0; round < 50; ++round) {
        parallel_for(101, 1, [&](int64_t begin, int64_t end) { total += end - begin; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(total.load(), 5 * 50 * 101);
}

TEST(ThreadPool, ExceptionReachesTheCaller) {
  ThreadScope threads(4);
  std::atomic<int> num_calls{0};
  EXPECT_ERROR(parallel_for(1 << 20, 1,
                            [&](int64_t begin, int64_t) {
                              ++num_calls;
                              if (begin == 0) throw UserError("iteration {}", begin);
                            }),
               "error: iteration 0");
  EXPECT_LE(num_calls.load(), 17);
  EXPECT_EQ(visits(127, 1), std::vector<int>(127, 1));
}

TEST(ThreadPool, ErrorCodeReachesTheCaller) {
  ThreadScope threads(4);
  auto body = [](void*, int64_t begin, int64_t end) -> int32_t {
    if (end < 127) return 0;
    set_current_error("ValueError", "the last range failed");
    return -1;
  };
  EXPECT_EQ(parallel_for(body, nullptr, 127, 1), -1);
  EXPECT_ERROR(raise_current_error("x"), "error: the last range failed");
  auto silent = [](void*, int64_t, int64_t) -> int32_t { return -1; };
  EXPECT_EQ(parallel_for(silent, nullptr, 127, 1), -1);
  EXPECT_EQ(take_current_error(), nullptr);
}

TEST(ThreadPool, NumberOfThreadsIsChecked) {
  EXPECT_ERROR(set_num_threads(-1),
               "error: the number of threads is -1, expected 1 to 1024, or 0 for the default");
  EXPECT_ERROR(set_num_threads(5000),
               "error: the number of threads is 5000, expected 1 to 1024, or 0 for the default");
  EXPECT_EQ(num_threads(), default_num_threads());
}

#ifndef TILEWRIGHT_UNDER_TSAN  // which does not follow a fork of a process with threads
TEST(ThreadPool, WorksInAForkedChild) {
  ThreadScope threads(4);
  visits(127, 1);
  const pid_t child = fork();
  if (child == 0) _exit(visits(1001, 1) == std::vector<int>(1001, 1) ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(visits(127, 1), std::vector<int>(127, 1));
}
#endif

TEST(CpuCount, QuotaIsRoundedUp) {
  EXPECT_EQ(parse_cpu_max("max 100000"), 0);
  EXPECT_EQ(parse_cpu_max("150000 100000"), 2);
  EXPECT_EQ(parse_cpu_max("200000 100000"), 2);
  EXPECT_EQ(parse_cpu_max("1000 100000"), 1);
  EXPECT_EQ(parse_cpu_max("-1 100000"), 0);
  EXPECT_EQ(parse_cpu_max(""), 0);
  EXPECT_GE(count_usable_cpus(), 1);
}

}  // namespace
}  // namespace tilewright::runtime
