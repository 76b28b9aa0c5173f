// The LLVM object behind a NativeTarget.
#pragma once
#include <llvm/Target/TargetMachine.h>

#include <memory>

#include "tilewright/codegen/llvm/native.h"

namespace tilewright::codegen {

/// The LLVM machine of `target` for this thread.
std::shared_ptr<llvm::TargetMachine> target_machine(const NativeTarget& target);

/// Abandons the machines of this thread without destroying them, after a call of LLVM was aborted.
void forget_target_machines();

/// Fills LLVM's global tables of targets, once.
void initialize_targets();

}  // namespace tilewright::codegen
