// Python's interpreter lock, for threads that may outlive the interpreter.
#pragma once
#include <cxxabi.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

namespace tilewright::python {

/// What `ask`, which runs Python or asks for its lock, gives.  Once the interpreter ends, Python before 3.14
/// ends every other thread that does so by pthread_exit, which unwinds the thread's stack: through
/// destructors and handlers of C++, where that ends the process.  Such a thread waits here instead, as Python
/// 3.14 makes it; the process is about to end.
/// Source: docs.python.org/3/c-api/init.html (PyEval_RestoreThread), abi::__forced_unwind of libstdc++
template <class Ask>
auto until_exit(Ask ask) {
  try {
    return ask();
  } catch (const abi::__forced_unwind&) {
    while (true) pause();
  }
}

/// Holds the lock while it lives, in any thread.
class Locked {
 public:
  Locked() : state_(until_exit([] { return PyGILState_Ensure(); })) {}
  ~Locked() { PyGILState_Release(state_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  PyGILState_STATE state_;
};

/// Gives the lock up while it lives.
class Unlocked {
 public:
  Unlocked();
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

/// Lets a process that ends while threads are Unlocked leave them behind.  Called when the interpreter ends,
/// so that what has been registered for exit before runs after it.
void prepare_exit();
/// Lets children of a fork have no such threads.  Called once.
void count_threads_of_children();

/// What `call`, a function that runs Python, gives under the lock.
template <class Call>
auto locked(Call call) {
  const Locked lock;
  return until_exit(call);
}

}  // namespace tilewright::python
