// Lets the application stop a compilation or a model run: its check is called between kernels and between
// steps.
#pragma once
#include <cstdint>
#include <functional>

namespace tilewright::runtime {

/// Throws the exception that shall end the call or the compilation.
using InterruptCheck = void (*)();

/// Sets the check that is called before each kernel, in every thread that runs or compiles one; null: none.
void set_interrupt_check(InterruptCheck check);
/// Calls the check.  Also throws in a thread of an interruptible_for that ends early.
void check_interrupt();

/// Calls body(0) .. body(extent - 1), single iterations, on the threads of the pool.  The calling thread also
/// runs the interrupt check while it waits for the others.  The first exception ends the loop: no iteration
/// begins any more, and check_interrupt throws in those that are running.  Raises the first exception.
void interruptible_for(int64_t extent, const std::function<void(int64_t)>& body);

}  // namespace tilewright::runtime
