// The threads of a block on one thread of a CPU: fibers that run until they meet others.  Private to
// tilewright_cuda_emulation.h.
#pragma once
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace tw_emulation {

struct Index {
  unsigned x, y, z;
};

// A place where threads wait for each other.
struct Meeting {
  uint64_t generation = 0;  // how often all have met
  unsigned arrived = 0;
  int line = 0;           // of the text, where the first of them waits
  const char* what = "";  // the function that the first of them called
  unsigned first = 0;     // the first of them
};

enum class State : uint8_t { kNew, kReady, kWaiting, kEnded };

// An asynchronous copy that has been asked for.
struct Copy {
  void* to;
  const void* from;
  unsigned bytes, group;
};

struct Thread {
  State state = State::kNew;
  struct Fiber* fiber = nullptr;
  const Meeting* meeting = nullptr;
  uint64_t generation = 0;
  int line = 0;
  std::vector<Copy> copies;
  unsigned group = 0;  // of the next copy
};

struct Fiber {
  char* stack;
  jmp_buf state;
  bool has_begun = false;
};

constexpr size_t kStackBytes = size_t{1} << 18, kGuardBytes = 4096;
// the bits of a signalling NaN in float32 and bfloat16, of a NaN in float16, and of an unlikely integer
constexpr uint16_t kPoison = 0x7fa5;

static std::vector<Thread> threads;
static std::vector<unsigned> order;  // in which threads run
static std::vector<Fiber*> idle;
static size_t cursor = 0;     // the position in `order` of the thread that runs
static unsigned current = 0;  // the thread that runs
static Fiber* running = nullptr;
static jmp_buf scheduler;
static ucontext_t first_context;
static void (*run_thread)(unsigned thread);
static bool has_failed = false;
static char failure[512];

inline void poison(void* memory, size_t bytes) {
  auto* place = static_cast<unsigned char*>(memory);
  for (size_t n = 0; n < bytes; ++n)
    place[n] = static_cast<unsigned char>(n % 2 ? kPoison >> 8 : kPoison & 255);
}

[[noreturn]] inline void leave_fiber() { _longjmp(scheduler, 1); }

// Called by a thread: the launch ends with an error.
template <class... Args>
[[noreturn]] void end_launch(const char* format, Args... args) {
  has_failed = true;
  snprintf(failure, sizeof failure, format, args...);
  leave_fiber();
}

// A fiber runs threads one after the other while they end without having waited: a kernel without barriers is a loop.
inline void run_fiber() {
  for (;;) {
    threads[current].fiber = running;
    run_thread(current);
    threads[current].state = State::kEnded;
    threads[current].fiber = nullptr;
    if (++cursor < order.size() && threads[order[cursor]].state == State::kNew) {
      current = order[cursor];
      continue;
    }
    --cursor;
    idle.push_back(running);
    if (!_setjmp(running->state)) leave_fiber();
  }
}

inline Fiber* take_fiber() {
  if (!idle.empty()) {
    Fiber* fiber = idle.back();
    idle.pop_back();
    return fiber;
  }
  auto* fiber = new Fiber;
  void* memory =
      mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    fprintf(stderr, "tilewright's CUDA emulation: no memory for the stack of a thread\n");
    abort();
  }
  mprotect(memory, kGuardBytes, PROT_NONE);
  fiber->stack = static_cast<char*>(memory);
  return fiber;
}

// Runs the thread at the cursor until it waits or ends.
inline void resume() {
  Thread& thread = threads[current];
  running = thread.fiber ? thread.fiber : take_fiber();
  if (_setjmp(scheduler)) return;
  if (running->has_begun) _longjmp(running->state, 1);
  running->has_begun = true;
  getcontext(&first_context);
  first_context.uc_stack.ss_sp = running->stack + kGuardBytes;
  first_context.uc_stack.ss_size = kStackBytes - kGuardBytes;
  first_context.uc_link = nullptr;
  makecontext(&first_context, run_fiber, 0);
  setcontext(&first_context);
}

// Called by a thread: waits until `count` threads have called this for the meeting.
template <class WhenAll>
inline void meet(Meeting& meeting, unsigned count, const char* what, int line, WhenAll when_all) {
  if (meeting.arrived == 0) {
    meeting.what = what, meeting.line = line, meeting.first = current;
  } else if (strcmp(meeting.what, what) != 0 ||
             (strcmp(what, "__syncthreads") == 0 && meeting.line != line)) {
    end_launch("thread %u waits at %s in line %d, thread %u at %s in line %d", meeting.first, meeting.what,
               meeting.line, current, what, line);
  }
  Thread& thread = threads[current];
  thread.state = State::kWaiting;
  thread.meeting = &meeting;
  thread.generation = meeting.generation;
  thread.line = line;
  if (++meeting.arrived == count) {
    when_all();
    meeting.arrived = 0;
    ++meeting.generation;
  }
  if (!_setjmp(running->state)) leave_fiber();
}

// Runs all threads to their end; false after an error.
inline bool run_block(unsigned count, void (*new_order)()) {
  threads.resize(count);
  for (Thread& thread : threads) {
    thread.state = State::kNew;
    thread.fiber = nullptr;
    thread.copies.clear();
    thread.group = 0;
  }
  has_failed = false;
  for (;;) {
    bool has_run = false;
    new_order();
    for (cursor = 0; cursor < order.size(); ++cursor) {
      Thread& thread = threads[order[cursor]];
      if (thread.state == State::kWaiting && thread.meeting->generation != thread.generation)
        thread.state = State::kReady;
      if (thread.state == State::kEnded || thread.state == State::kWaiting) continue;
      has_run = true;
      current = order[cursor];
      resume();
      if (has_failed) return false;
    }
    if (!has_run) break;
  }
  for (unsigned n = 0; n < count; ++n) {
    if (threads[n].state != State::kWaiting) continue;
    unsigned other = 0;
    while (other < count && threads[other].meeting == threads[n].meeting &&
           threads[other].state == State::kWaiting)
      ++other;
    const bool has_ended = other < count && threads[other].state == State::kEnded;
    snprintf(failure, sizeof failure, "thread %u waits at %s in line %d, thread %u %s", n,
             threads[n].meeting->what, threads[n].line, other, has_ended ? "has ended" : "waits elsewhere");
    return false;
  }
  return true;
}

// After an error fibers hold threads that will not go on.
inline void forget_fibers() {
  for (Thread& thread : threads) {
    if (!thread.fiber) continue;
    thread.fiber->has_begun = false;
    idle.push_back(thread.fiber);
    thread.fiber = nullptr;
  }
}

}  // namespace tw_emulation
