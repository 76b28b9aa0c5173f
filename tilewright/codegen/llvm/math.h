// Float32 arithmetic for the implementation of math functions (math.cc, one_plus.cc).
#pragma once

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <initializer_list>
#include <iterator>

#include "tilewright/codegen/llvm/emitter.h"
#include "tilewright/codegen/llvm/multiply_add.h"

namespace tilewright::codegen {

// 1.5 * 2^23: adding it to a small number rounds it to an integer, which the last bits of the sum hold.
inline constexpr double kRounding = 12582912;
inline constexpr int64_t kRoundingBits = 0x4b400000;

/// The constant that `value` has in all lanes; null if it is not a constant.
inline const FloatImmNode* number_of(const PrimExpr& value) {
  const auto* vector = value.as<BroadcastNode>();
  return (vector ? vector->value : value).as<FloatImmNode>();
}

/// Float32 arithmetic on values of one type, scalar or vector.
class Math {
 public:
  Math(llvm::IRBuilder<>& builder, llvm::Type* type, const NativeTarget& target)
      : b(builder),
        type(type),
        int_type(llvm::CmpInst::makeCmpResultType(type)->getWithNewBitWidth(32)),
        target_(target) {}
  llvm::Value* c(double value) const { return llvm::ConstantFP::get(type, value); }
  llvm::Value* ci(int64_t value) const { return llvm::ConstantInt::getSigned(int_type, value); }
  llvm::Value* mad(llvm::Value* x, llvm::Value* y, llvm::Value* z) const {
    return multiply_add(b, target_, x, y, z);
  }
  llvm::Value* abs(llvm::Value* x) const { return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }
  /// x limited to [low, high]; NaN stays.
  llvm::Value* clamp(llvm::Value* x, double low, double high) const {
    return at_most(b.CreateSelect(b.CreateFCmpOLT(x, c(low)), c(low), x), high);
  }
  /// The minimum of x and high; NaN stays.
  llvm::Value* at_most(llvm::Value* x, double high) const {
    return b.CreateSelect(b.CreateFCmpOGT(x, c(high)), c(high), x);
  }
  /// coefficients[0] + x * (coefficients[1] + x * ...) by Horner's scheme, which has the fewest operations.
  /// Each waits for the previous one; the processor fills the time with other vectors.
  llvm::Value* polynomial(llvm::Value* x, std::initializer_list<double> coefficients) const {
    llvm::Value* sum = nullptr;
    for (auto it = std::rbegin(coefficients); it != std::rend(coefficients); ++it)
      sum = sum ? mad(sum, x, c(*it)) : c(*it);
    return sum;
  }
  llvm::Value* copysign(llvm::Value* magnitude, llvm::Value* sign) const {
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, magnitude, sign);
  }
  /// 2^n for an integer -126 <= n <= 127; only the last nine of its bits are used.
  llvm::Value* power_of_two(llvm::Value* n) const {
    return b.CreateBitCast(b.CreateShl(b.CreateAdd(n, ci(127)), ci(23)), type);
  }
  /// The instruction that multiplies `x` by 2^n for any integer n; null if there is none.
  llvm::Value* scalef(llvm::Value* x, llvm::Value* n) const {
    using namespace llvm::Intrinsic;
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    const unsigned lanes = vector ? vector->getNumElements() : 1;
    llvm::Value *all8 = b.getInt8(0xff), *all16 = b.getInt16(0xffff), *as_always = b.getInt32(4);
    if (lanes == 16 && target_.has("avx512f"))
      return b.CreateIntrinsic(x86_avx512_mask_scalef_ps_512, {}, {x, n, x, all16, as_always});
    if (lanes == 8 && target_.has("avx512vl"))
      return b.CreateIntrinsic(x86_avx512_mask_scalef_ps_256, {}, {x, n, x, all8});
    return nullptr;
  }

  llvm::IRBuilder<>& b;
  llvm::Type *type, *int_type;

 private:
  const NativeTarget& target_;
};

/// e^x for -87 < x < 89.
llvm::Value* exp_of_small(const Math& m, llvm::Value* x);

}  // namespace tilewright::codegen
