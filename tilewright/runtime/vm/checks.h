// The check_* instructions: they check the arguments of a function and raise the error if one does not fit.
#pragma once
#include "tilewright/runtime/vm/machine_state.h"

namespace tilewright::runtime::vm {

/// Each raises a UserError that begins with the function's name.  A tensor that is not compact or not aligned
/// to its element size is replaced by a copy.
void check_tensor(const MachineObject& machine, const BytecodeFunction& function,
                  const Instruction& instruction, Frame& frame);
void check_shape(const MachineObject& machine, const BytecodeFunction& function,
                 const Instruction& instruction, Frame& frame);
void check_kind(const MachineObject& machine, const BytecodeFunction& function,
                const Instruction& instruction, Frame& frame);
void check_equal(const MachineObject& machine, const BytecodeFunction& function,
                 const Instruction& instruction, Frame& frame);
void check_divisible(const MachineObject& machine, const BytecodeFunction& function,
                     const Instruction& instruction, Frame& frame);
/// Replaces a tensor by an aligned copy where the instruction requires it.
void align_tensor(const BytecodeFunction& function, const Instruction& instruction, Frame& frame);
void require(const MachineObject& machine, const BytecodeFunction& function, const Instruction& instruction,
             Frame& frame);

}  // namespace tilewright::runtime::vm
