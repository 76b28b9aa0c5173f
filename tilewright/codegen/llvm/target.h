// The LLVM object behind a NativeTarget.
#pragma once
#include <llvm/Target/TargetMachine.h>

#include <memory>

#include "tilewright/codegen/llvm/native.h"

namespace tilewright::codegen {

/// The machine of `target` that belongs to this thread.
std::shared_ptr<llvm::TargetMachine> target_machine(const NativeTarget& target);

/// Leaves the machines of this thread where they are, undestroyed: a call of LLVM was left in the middle.
void forget_target_machines();

/// LLVM keeps its targets in global tables, which are filled once.
void initialize_targets();

}  // namespace tilewright::codegen
