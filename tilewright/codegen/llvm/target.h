// The LLVM object behind a NativeTarget.
#pragma once
#include <llvm/Target/TargetMachine.h>

#include <memory>

#include "tilewright/codegen/llvm/native.h"

namespace tilewright::codegen {

/// A new machine; one belongs to one thread.
std::unique_ptr<llvm::TargetMachine> make_target_machine(const NativeTarget& target);

}  // namespace tilewright::codegen
