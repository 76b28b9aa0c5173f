// Python's global interpreter lock, for threads that may outlive the interpreter.
#pragma once
#include <cxxabi.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

namespace tilewright::python {

/// Returns the result of `ask`, which runs Python or acquires its lock.  When the interpreter has ended,
/// Python before 3.14 ends every other thread that does so with pthread_exit, which unwinds the thread's
/// stack through C++ destructors and handlers, and that would end the process.  Such a thread waits here
/// instead, as in Python 3.14; the process is about to end.  Source: docs.python.org/3/c-api/init.html
/// (PyEval_RestoreThread), abi::__forced_unwind of libstdc++
template <class Ask>
auto until_exit(Ask ask) {
  try {
    return ask();
  } catch (const abi::__forced_unwind&) {
    while (true) pause();
  }
}

/// Holds the lock during its lifetime, in any thread.
class Locked {
 public:
  Locked() : state_(until_exit([] { return PyGILState_Ensure(); })) {}
  ~Locked() { PyGILState_Release(state_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  PyGILState_STATE state_;
};

/// Releases the lock during its lifetime.
class Unlocked {
 public:
  Unlocked();
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

/// Allows the process to end while threads are Unlocked.  Called when the interpreter ends, so that functions
/// registered for exit before run after it.
void prepare_exit();
/// Resets the count of such threads in forked children.  Called once.
void count_threads_of_children();

/// Returns the result of `call`, a function that runs Python, with the lock held.
template <class Call>
auto locked(Call call) {
  const Locked lock;
  return until_exit(call);
}

}  // namespace tilewright::python
