// Asynchronous copies of the threads of a block: begun, closed as a group, waited for.
#pragma once
#include <deque>
#include <string>
#include <vector>

#include "tilewright/analysis/interpreter/memory.h"
#include "tilewright/ir/node.h"

namespace tilewright::analysis {

/// One copy that a thread has begun.  Until it has waited for it, what it copies to may not be touched.
struct AsyncCopy {
  Memory* to;
  int64_t byte;             // the first one
  std::vector<char> bytes;  // what is copied
  ir::ObjectRef node;       // the call
  std::string thread;       // "threadIdx.x = 3"
  std::string at;           // " at tx = 3, k = 0"
  int64_t group = 0;        // number of the group, once it is closed
};

class AsyncCopies {
 public:
  /// Forgets everything; `num_threads` threads begin.
  void reset(size_t num_threads) { threads_.assign(num_threads, {}); }

  void begin(size_t thread, AsyncCopy copy);
  /// All copies of the thread since the last time are a group.
  void close_group(size_t thread);
  /// Ends the groups of the thread but for the last `num_open`; returns the copies, whose bytes are in place now.
  std::vector<AsyncCopy> wait(size_t thread, int64_t num_open);
  /// Raises UserError if the thread, which ends, has copies that it did not wait for.
  void require_none(size_t thread) const;
  /// Raises UserError for an access to bit `bit` of `memory`, which a running copy writes; `what`: "S[3] is read".
  [[noreturn]] void fail_pending(const Memory& memory, int64_t bit, const ir::ObjectRef& node,
                                 const std::string& what, const std::string& at) const;

 private:
  struct OfThread {
    std::deque<AsyncCopy> copies;  // in the order in which they were begun
    int64_t num_closed = 0;        // groups so far
  };
  std::vector<OfThread> threads_;
};

}  // namespace tilewright::analysis
