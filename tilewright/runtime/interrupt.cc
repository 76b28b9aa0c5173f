#include "tilewright/runtime/interrupt.h"

#include <atomic>

namespace tilewright::runtime {
namespace {

std::atomic<InterruptCheck>& current() {
  static std::atomic<InterruptCheck> check{nullptr};
  return check;
}

}  // namespace

void set_interrupt_check(InterruptCheck check) { current().store(check, std::memory_order_release); }

void check_interrupt() {
  if (const InterruptCheck check = current().load(std::memory_order_acquire)) check();
}

}  // namespace tilewright::runtime
