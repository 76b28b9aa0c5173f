#include "tilewright/analysis/interpreter/fibers.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <cstdint>
#include <exception>
#include <new>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__) || (defined(__has_feature) && __has_feature(address_sanitizer))
#include <sanitizer/common_interface_defs.h>
#define TILEWRIGHT_ASAN 1
#endif

namespace tilewright::analysis {
namespace {

constexpr size_t kStackBytes = size_t{1} << 20, kGuardBytes = size_t{1} << 16;

struct Cancelled {};

// Memory of a stack; the pages that are never touched cost nothing, and the lowest may not be touched.
class Stack {
 public:
  Stack()
      : base_(mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0)) {
    if (base_ == MAP_FAILED) throw std::bad_alloc();
    mprotect(base_, kGuardBytes, PROT_NONE);
  }
  ~Stack() { munmap(base_, kStackBytes); }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  char* begin() const { return static_cast<char*>(base_) + kGuardBytes; }
  static constexpr size_t size() { return kStackBytes - kGuardBytes; }

 private:
  void* base_;
};

struct Fiber {
  Stack stack;
  ucontext_t context{};
  void* fake_stack = nullptr;  // of the address sanitizer, while the fiber waits
  bool has_begun = false, has_ended = true;
};

// The address sanitizer has to know which stack is used from now on, and afterwards that it is.
void before_switch([[maybe_unused]] void** fake_stack, [[maybe_unused]] const void* stack,
                   [[maybe_unused]] size_t size) {
#ifdef TILEWRIGHT_ASAN
  __sanitizer_start_switch_fiber(fake_stack, stack, size);
#endif
}
void after_switch([[maybe_unused]] void* fake_stack, [[maybe_unused]] const void** stack,
                  [[maybe_unused]] size_t* size) {
#ifdef TILEWRIGHT_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, stack, size);
#endif
}

}  // namespace

struct Fibers::Impl {
  std::vector<Fiber> fibers;
  std::function<void(size_t)> body;
  ucontext_t caller{};
  const void* caller_stack = nullptr;
  size_t caller_size = 0;
  size_t current = 0;
  bool is_cancelled = false;
  std::exception_ptr thrown;

  explicit Impl(size_t count) : fibers(count) {}

  // makecontext passes ints: the address comes in two halves
  static void enter(unsigned high, unsigned low) {
    const uintptr_t address = (uintptr_t{high} << 32) | low;
    auto* impl = reinterpret_cast<Impl*>(address);  // NOLINT(performance-no-int-to-ptr)
    after_switch(nullptr, &impl->caller_stack, &impl->caller_size);
    impl->run_current();
  }

  void run_current() {
    Fiber& fiber = fibers[current];
    try {
      body(current);
    } catch (const Cancelled&) {  // the fiber ends here
    } catch (...) {
      thrown = std::current_exception();
    }
    fiber.has_ended = true;
    before_switch(nullptr, caller_stack, caller_size);
    swapcontext(&fiber.context, &caller);
  }

  void switch_to(size_t n) {
    Fiber& fiber = fibers[n];
    current = n;
    if (!fiber.has_begun) {
      fiber.has_begun = true;
      getcontext(&fiber.context);
      fiber.context.uc_stack.ss_sp = fiber.stack.begin();
      fiber.context.uc_stack.ss_size = Stack::size();
      fiber.context.uc_link = nullptr;
      const auto address = reinterpret_cast<uintptr_t>(this);
      makecontext(&fiber.context, reinterpret_cast<void (*)()>(enter), 2,
                  static_cast<unsigned>(address >> 32), static_cast<unsigned>(address));
    }
    void* fake_stack = nullptr;
    before_switch(&fake_stack, fiber.stack.begin(), Stack::size());
    swapcontext(&caller, &fiber.context);
    after_switch(fake_stack, nullptr, nullptr);
  }
};

Fibers::Fibers(size_t count) : impl_(std::make_unique<Impl>(count)) {}

Fibers::~Fibers() { cancel(); }

size_t Fibers::size() const { return impl_->fibers.size(); }

void Fibers::start(std::function<void(size_t)> body) {
  impl_->body = std::move(body);
  impl_->is_cancelled = false;
  for (Fiber& fiber : impl_->fibers) fiber.has_begun = fiber.has_ended = false;
}

void Fibers::resume(size_t n) {
  impl_->switch_to(n);
  if (impl_->thrown) std::rethrow_exception(std::exchange(impl_->thrown, nullptr));
}

bool Fibers::has_ended(size_t n) const { return impl_->fibers[n].has_ended; }

void Fibers::pause() {
  Fiber& fiber = impl_->fibers[impl_->current];
  before_switch(&fiber.fake_stack, impl_->caller_stack, impl_->caller_size);
  swapcontext(&fiber.context, &impl_->caller);
  after_switch(fiber.fake_stack, &impl_->caller_stack, &impl_->caller_size);
  if (impl_->is_cancelled) throw Cancelled();
}

void Fibers::cancel() {
  impl_->is_cancelled = true;
  for (size_t n = 0; n < size(); ++n) {
    Fiber& fiber = impl_->fibers[n];
    if (fiber.has_begun && !fiber.has_ended) impl_->switch_to(n);
    fiber.has_ended = true;
  }
  impl_->thrown = nullptr;
}

}  // namespace tilewright::analysis
