#include "tilewright/python/locks.h"

#include <pthread.h>

#include <atomic>
#include <cstdio>

namespace tilewright::python {
namespace {

// The number of threads that are in C++ without the lock, including those that wait for the process to end.
std::atomic<int>& num_unlocked() {
  static std::atomic<int> count{0};
  return count;
}

// The last step of exit, before the destruction of global objects that such threads may be using (LLVM's
// tables).
void skip_destructors(int status, void*) {
  if (num_unlocked() == 0) return;
  std::fflush(nullptr);
  _exit(status);
}

}  // namespace

Unlocked::Unlocked() {
  ++num_unlocked();
  state_ = PyEval_SaveThread();
}

Unlocked::~Unlocked() {
  until_exit([&] { PyEval_RestoreThread(state_); });
  --num_unlocked();
}

void prepare_exit() { on_exit(&skip_destructors, nullptr); }

void count_threads_of_children() {
  num_unlocked();
  pthread_atfork(nullptr, nullptr, [] { num_unlocked() = 0; });
}

}  // namespace tilewright::python
