// How a program that runs models can stop one: it is asked between kernels.
#pragma once

namespace tilewright::runtime {

/// Throws what shall end the call of the model.
using InterruptCheck = void (*)();

/// Sets what is called before each kernel of a model, in every thread that runs one; null: nothing.
void set_interrupt_check(InterruptCheck check);
/// Calls it.
void check_interrupt();

}  // namespace tilewright::runtime
