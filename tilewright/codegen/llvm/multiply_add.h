// Products that are added: one instruction that rounds once, where the target allows and has it.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "tilewright/codegen/llvm/native.h"

namespace tilewright::codegen {

/// The factors of a product, of one type.
struct Factors {
  llvm::Value *x, *y;
};

/// x * y + z, rounded once if `target` contracts and has such an instruction, else after each operation.
llvm::Value* multiply_add(llvm::IRBuilder<>& builder, const NativeTarget& target, llvm::Value* x,
                          llvm::Value* y, llvm::Value* z);

}  // namespace tilewright::codegen
