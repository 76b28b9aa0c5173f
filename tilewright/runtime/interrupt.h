// How a program that compiles or runs models can stop: it is asked between kernels and between steps.
#pragma once
#include <cstdint>
#include <functional>

namespace tilewright::runtime {

/// Throws what shall end the call or the build.
using InterruptCheck = void (*)();

/// Sets what is called before each kernel, in every thread that runs or compiles one; null: nothing.
void set_interrupt_check(InterruptCheck check);
/// Calls it.  Throws also in a thread of an interruptible_for that ends early.
void check_interrupt();

/// body(0) .. body(extent - 1) on the threads of the pool, one at a time.  The calling thread is asked for
/// interrupts also while it waits for the others.  The first that throws ends it: others begin no more, and
/// check_interrupt throws in those that are at work.  Raises what was thrown first.
void interruptible_for(int64_t extent, const std::function<void(int64_t)>& body);

}  // namespace tilewright::runtime
