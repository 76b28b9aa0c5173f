// x^y of integers, wrapping around like products: by repeated squaring, one step per bit of y.
#include "tilewright/codegen/llvm/emitter.h"

namespace tilewright::codegen {

// i64 power(i64 x, i64 y) for an unsigned y
llvm::Function* ModuleEmitter::power_function() {
  constexpr const char* kName = "tilewright_power";
  if (llvm::Function* known = module.getFunction(kName)) return known;
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* type = llvm::Type::getInt64Ty(context);
  llvm::Function* function = helper(kName, type, {type, type});
  auto* entry = llvm::BasicBlock::Create(context, "entry", function);
  auto* loop = llvm::BasicBlock::Create(context, "loop", function);
  auto* done = llvm::BasicBlock::Create(context, "done", function);
  llvm::IRBuilder<> builder(entry);
  builder.CreateBr(loop);
  builder.SetInsertPoint(loop);
  llvm::PHINode *result = builder.CreatePHI(type, 2), *factor = builder.CreatePHI(type, 2),
                *rest = builder.CreatePHI(type, 2);
  llvm::Value* has_bit = builder.CreateTrunc(rest, builder.getInt1Ty());
  llvm::Value* next = builder.CreateSelect(has_bit, builder.CreateMul(result, factor), result);
  llvm::Value* shorter = builder.CreateLShr(rest, 1);
  const auto add = [&](llvm::PHINode* phi, llvm::Value* first, llvm::Value* then) {
    phi->addIncoming(first, entry);
    phi->addIncoming(then, loop);
  };
  add(result, builder.getInt64(1), next);
  add(factor, function->getArg(0), builder.CreateMul(factor, factor));
  add(rest, function->getArg(1), shorter);
  builder.CreateCondBr(builder.CreateIsNull(shorter), done, loop);
  builder.SetInsertPoint(done);
  builder.CreateRet(next);
  return function;
}

// A negative power is rounded towards 0, as a quotient is: only those of 1 and -1 are not 0.
llvm::Value* FunctionEmitter::emit_integer_power(const CallNode* node) {
  const bool has_sign = node->dtype.is_int();
  llvm::Type *wide = builder_.getInt64Ty(), *type = llvm_type(context_, node->dtype.element());
  const auto power = [&](llvm::Value* x, llvm::Value* y) {
    x = builder_.CreateIntCast(x, wide, has_sign);
    y = builder_.CreateIntCast(y, wide, has_sign);
    llvm::Value* is_inverse = has_sign ? builder_.CreateIsNeg(y) : builder_.getFalse();
    y = builder_.CreateSelect(is_inverse, builder_.CreateAnd(y, 1), y);
    llvm::Value* result = builder_.CreateCall(module_.power_function(), {x, y});
    llvm::Value* is_unit =
        builder_.CreateOr(builder_.CreateICmpEQ(x, builder_.getInt64(1)),
                          builder_.CreateICmpEQ(x, llvm::ConstantInt::getSigned(wide, -1)));
    llvm::Value* is_zero = builder_.CreateAnd(is_inverse, builder_.CreateNot(is_unit));
    return builder_.CreateTrunc(builder_.CreateSelect(is_zero, builder_.getInt64(0), result), type);
  };
  llvm::Value *x = emit(node->args[0]), *y = emit(node->args[1]);
  if (node->dtype.is_scalar()) return power(x, y);
  llvm::Value* result = llvm::PoisonValue::get(llvm_type(context_, node->dtype));
  for (int lane = 0; lane < node->dtype.lanes; ++lane) {
    llvm::Value* value = power(builder_.CreateExtractElement(x, static_cast<uint64_t>(lane)),
                               builder_.CreateExtractElement(y, static_cast<uint64_t>(lane)));
    result = builder_.CreateInsertElement(result, value, static_cast<uint64_t>(lane));
  }
  return result;
}

}  // namespace tilewright::codegen
