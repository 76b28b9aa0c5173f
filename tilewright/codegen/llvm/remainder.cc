// The exact remainder of floats with the sign of the dividend, as C's fmod: vectorised in float64 if all
// quotients of a vector are small, else lane by lane in the C library.
#include "tilewright/codegen/llvm/emitter.h"

namespace tilewright::codegen {

// x and y have at most 24 bits and are both multiples of the last bit of the smaller one; t = x / y, |t| <
// 2^28. If t is not an integer, it is at least 2^-24 away from the next integer, as y has at most 24 bits,
// and the float64 nearest to t is at most 2^-26 away from t: both truncate to the same q.  q has 28 bits, so
// q y has 52 and is exact; x - q y is less than y and a multiple of the same last bit, and hence exact in
// float64 and in the dtype of x.
llvm::Value* FunctionEmitter::emit_remainder(llvm::Value* a, llvm::Value* b) {
  llvm::Type *type = a->getType(), *element = type->getScalarType();
  if (!element->isFloatTy() && !element->isHalfTy()) return builder_.CreateFRem(a, b);
  llvm::Type *wide = type->getWithNewType(builder_.getDoubleTy()),
             *whole = type->getWithNewType(builder_.getInt32Ty());
  const auto magnitude = [&](llvm::Value* value) {
    return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value);
  };
  llvm::Value *x = builder_.CreateFPExt(a, wide), *y = builder_.CreateFPExt(b, wide);
  llvm::Value* quotient = builder_.CreateFDiv(x, y);
  // a quotient by infinity is small, but x is not a multiple of infinity
  llvm::Value* is_small =
      builder_.CreateAnd(builder_.CreateFCmpOLT(magnitude(quotient), llvm::ConstantFP::get(wide, 0x1p28)),
                         builder_.CreateFCmpOLT(magnitude(y), llvm::ConstantFP::getInfinity(wide)));
  llvm::Value* are_small = type->isVectorTy() ? builder_.CreateAndReduce(is_small) : is_small;
  const auto in_float64 = [&] {
    llvm::Value* count = builder_.CreateSIToFP(builder_.CreateFPToSI(quotient, whole), wide);
    llvm::Value* rest = builder_.CreateFSub(x, builder_.CreateFMul(count, y));
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, builder_.CreateFPTrunc(rest, type), a);
  };
  return emit_branches(are_small, in_float64, [&] { return builder_.CreateFRem(a, b); });
}

}  // namespace tilewright::codegen
