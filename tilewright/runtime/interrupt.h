// How a program that compiles or runs models can stop: it is asked between kernels.
#pragma once

namespace tilewright::runtime {

/// Throws what shall end the call or the build.
using InterruptCheck = void (*)();

/// Sets what is called before each kernel, in every thread that runs or compiles one; null: nothing.
void set_interrupt_check(InterruptCheck check);
/// Calls it.
void check_interrupt();

}  // namespace tilewright::runtime
