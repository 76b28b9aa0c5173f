// x^y of float32 as 2^(y log2 x) in float64, with the same operations on scalars and vectors.  Worst error
// found by tests/codegen/math_test.cc: 0.51 units in the last place; 2.2 for x^0.75, which is
// sqrt(x) sqrt(sqrt(x)).
//   x = 2^e t with sqrt(1/2) <= t < sqrt(2):  log t = 2 atanh(s), s = (t - 1) / (t + 1), |s| < 0.172
//   2^v = 2^n exp(r), n the integer nearest to v, |r| <= ln 2 / 2
// Both series are Taylor series, with relative errors 2e-12 and 3e-10; float64 holds all results of float32,
// including those that are subnormal or overflow.
#include <llvm/IR/Intrinsics.h>

#include <cmath>
#include <numbers>

#include "tilewright/codegen/llvm/emitter.h"
#include "tilewright/codegen/llvm/math.h"

namespace tilewright::codegen {
namespace {

constexpr double kRounding64 = 6755399441055744;  // 1.5 * 2^52: adding it rounds to an integer

class Power {
 public:
  Power(llvm::IRBuilder<>& builder, llvm::Type* narrow, const NativeTarget& target)
      : b(builder),
        target_(target),
        narrow_(narrow),
        wide_(narrow->getWithNewType(builder.getDoubleTy())),
        bits_(llvm::CmpInst::makeCmpResultType(narrow)->getWithNewBitWidth(64)) {}

  // Computes the power for 0 < x < infinity and finite y.
  llvm::Value* of_positive(llvm::Value* x, llvm::Value* y) const {
    llvm::Value* exponent = b.CreateFMul(b.CreateFPExt(y, wide_), log2(b.CreateFPExt(x, wide_)));
    return b.CreateFPTrunc(exp2(exponent), narrow_);
  }

 private:
  llvm::Value* c(double value) const { return llvm::ConstantFP::get(wide_, value); }
  llvm::Value* ci(int64_t value) const { return llvm::ConstantInt::getSigned(bits_, value); }
  llvm::Value* mad(llvm::Value* x, llvm::Value* y, llvm::Value* z) const {
    return multiply_add(b, target_, x, y, z);
  }

  llvm::Value* log2(llvm::Value* x) const {
    llvm::Value* bits = b.CreateBitCast(x, bits_);
    // bits of sqrt(1/2): subtracting them carries into the exponent for t >= sqrt(2)
    llvm::Value* e = b.CreateAShr(b.CreateSub(bits, ci(0x3fe6a09e667f3bcd)), ci(52));
    llvm::Value* t = b.CreateBitCast(b.CreateSub(bits, b.CreateShl(e, ci(52))), wide_);
    llvm::Value* s = b.CreateFDiv(b.CreateFSub(t, c(1)), b.CreateFAdd(t, c(1)));
    llvm::Value* z = b.CreateFMul(s, s);
    llvm::Value* series = c(1.0 / 13);
    for (int n = 11; n >= 1; n -= 2) series = mad(series, z, c(1.0 / n));
    return mad(b.CreateFMul(s, series), c(2 * std::numbers::log2e), whole(e));
  }

  // An integer below 2^51 as float64, from the last bits of a sum with kRounding64.
  llvm::Value* whole(llvm::Value* n) const {
    const auto bits = llvm::ConstantExpr::getBitCast(llvm::cast<llvm::Constant>(c(kRounding64)), bits_);
    return b.CreateFSub(b.CreateBitCast(b.CreateAdd(n, bits), wide_), c(kRounding64));
  }

  llvm::Value* exp2(llvm::Value* v) const {
    // beyond these limits float32 gives 0 and infinity
    v = b.CreateSelect(b.CreateFCmpOLT(v, c(-160)), c(-160), v);
    v = b.CreateSelect(b.CreateFCmpOGT(v, c(140)), c(140), v);
    llvm::Value* sum = b.CreateFAdd(v, c(kRounding64));
    llvm::Value* r = b.CreateFMul(b.CreateFSub(v, b.CreateFSub(sum, c(kRounding64))), c(std::numbers::ln2));
    double factorial = 40320;
    llvm::Value* series = c(1 / factorial);
    for (int n = 8; n >= 1; --n) {
      factorial /= n;
      series = mad(series, r, c(1 / factorial));
    }
    // adding n to the exponent multiplies by 2^n
    llvm::Value* n = b.CreateShl(b.CreateBitCast(sum, bits_), ci(52));
    return b.CreateBitCast(b.CreateAdd(b.CreateBitCast(series, bits_), n), wide_);
  }

  llvm::IRBuilder<>& b;
  const NativeTarget& target_;
  llvm::Type *narrow_, *wide_, *bits_;
};

}  // namespace

// x^y for a constant y by multiplications and square roots, each exactly rounded; null for other exponents.
llvm::Value* FunctionEmitter::emit_small_power(llvm::Value* x, double y) {
  if (y == 1) return x;
  if (y == 2) return builder_.CreateFMul(x, x);
  if (y == 3) return builder_.CreateFMul(builder_.CreateFMul(x, x), x);
  if (y == -1) return builder_.CreateFDiv(llvm::ConstantFP::get(x->getType(), 1), x);
  if (y != 0.25 && y != 0.5 && y != 0.75) return nullptr;
  llvm::Type* type = x->getType();
  llvm::Value *infinity = llvm::ConstantFP::getInfinity(type), *zero = llvm::ConstantFP::get(type, 0);
  // powers of -infinity are infinite, those of -0 are 0
  x = builder_.CreateSelect(builder_.CreateFCmpOEQ(x, llvm::ConstantFP::getInfinity(type, true)), infinity,
                            x);
  llvm::Value* root = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, builder_.CreateFAdd(x, zero));
  if (y == 0.5) return root;
  llvm::Value* fourth = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, root);
  return y == 0.25 ? fourth : builder_.CreateFMul(root, fourth);
}

// Negative numbers, infinities and NaN are left to the C library, and so is 0 unless y is known to be
// positive.
llvm::Value* FunctionEmitter::emit_power(const CallNode* node) {
  const FloatImmNode* constant = number_of(node->args[1]);
  llvm::Value* x = emit(node->args[0]);
  llvm::Type* type = x->getType();
  if (constant) {
    if (llvm::Value* value = emit_small_power(x, constant->value)) return value;
  }
  llvm::Value *y = emit(node->args[1]), *zero = llvm::ConstantFP::get(type, 0),
              *infinity = llvm::ConstantFP::getInfinity(type);
  const bool takes_zero = constant && constant->value > 0;
  llvm::Value* is_zero = builder_.CreateFCmpOEQ(x, zero);
  llvm::Value* is_usual =
      builder_.CreateAnd(takes_zero ? builder_.CreateFCmpOGE(x, zero) : builder_.CreateFCmpOGT(x, zero),
                         builder_.CreateFCmpOLT(x, infinity));
  if (!constant || !std::isfinite(constant->value)) {
    llvm::Value* magnitude = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, y);
    is_usual = builder_.CreateAnd(is_usual, builder_.CreateFCmpOLT(magnitude, infinity));
  }
  if (takes_zero && std::fmod(constant->value, 2) == 1) {  // -0 stays -0
    llvm::Value* is_negative = builder_.CreateIsNeg(
        builder_.CreateBitCast(x, llvm::CmpInst::makeCmpResultType(type)->getWithNewBitWidth(32)));
    is_usual = builder_.CreateAnd(is_usual, builder_.CreateNot(is_negative));
  }
  if (!node->dtype.is_scalar()) is_usual = builder_.CreateAndReduce(is_usual);
  return emit_branches(
      is_usual,
      [&] {
        llvm::Value* value = Power(builder_, type, module_.target).of_positive(x, y);
        return takes_zero ? builder_.CreateSelect(is_zero, zero, value) : value;
      },
      [&] { return emit_libm(node->dtype, "pow", {x, y}); });
}

}  // namespace tilewright::codegen
