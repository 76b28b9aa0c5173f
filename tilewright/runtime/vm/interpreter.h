// The interpreter loop for the instructions of one function.
#pragma once
#include "tilewright/runtime/vm/machine_state.h"

namespace tilewright::runtime::vm {

/// Runs `function`, whose arguments are in the first registers of `frame`, and returns its result.  The
/// executable has been verified: indices are in range and jumps go forward.
Value interpret(const MachineObject& machine, const BytecodeFunction& function, Frame& frame);

}  // namespace tilewright::runtime::vm
