// exp, log, tanh, sigmoid and erf of float32 as polynomials on scalars and vectors alike, so that a loop has
// the same results with and without vectors.  Worst errors found by tests/codegen/math_test.cc: exp 2, log 2,
// tanh 4, sigmoid 3, erf 4 units in the last place.
#include <llvm/IR/Intrinsics.h>

#include <cmath>

#include "tilewright/codegen/llvm/emitter.h"

namespace tilewright::codegen {
namespace {

constexpr double kLog2E = 1.44269504088896340736, kPi = 3.14159265358979323846;
// ln 2 in two parts; the first has 9 bits, so that its product with a whole number below 2^15 is exact in
// float32
constexpr double kLn2High = 0.693359375, kLn2Low = -2.12194440054690583e-4;

/// Float32 arithmetic on values of one type, scalar or vector.
class Math {
 public:
  Math(llvm::IRBuilder<>& builder, llvm::Type* type)
      : b(builder), type(type), int_type(llvm::CmpInst::makeCmpResultType(type)->getWithNewBitWidth(32)) {}
  llvm::Value* c(double value) const { return llvm::ConstantFP::get(type, value); }
  llvm::Value* ci(int64_t value) const { return llvm::ConstantInt::getSigned(int_type, value); }
  llvm::Value* mad(llvm::Value* x, llvm::Value* y, llvm::Value* z) const {
    return b.CreateFAdd(b.CreateFMul(x, y), z);
  }
  llvm::Value* abs(llvm::Value* x) const { return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }
  /// x limited to [low, high]; NaN stays.
  llvm::Value* clamp(llvm::Value* x, double low, double high) const {
    x = b.CreateSelect(b.CreateFCmpOLT(x, c(low)), c(low), x);
    return b.CreateSelect(b.CreateFCmpOGT(x, c(high)), c(high), x);
  }
  /// coefficients[0] + x * (coefficients[1] + x * ...)
  llvm::Value* polynomial(llvm::Value* x, std::initializer_list<double> coefficients) const {
    const double* last = coefficients.end() - 1;
    llvm::Value* sum = c(*last);
    while (last != coefficients.begin()) sum = mad(sum, x, c(*--last));
    return sum;
  }
  /// 2^n for a whole number -126 <= n <= 127 given as an integer.
  llvm::Value* power_of_two(llvm::Value* n) const {
    return b.CreateBitCast(b.CreateShl(b.CreateAdd(n, ci(127)), ci(23)), type);
  }

  llvm::IRBuilder<>& b;
  llvm::Type *type, *int_type;
};

/// x = n * ln 2 + r with |r| <= ln 2 / 2; expm1_r = e^r - 1.
struct Reduced {
  llvm::Value *n, *expm1_r;
};

// Taylor series: the next term is below 0.35^8 / 8! = 6e-9 of the result.
Reduced reduce(const Math& m, llvm::Value* x) {
  llvm::Value* n = m.b.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, m.b.CreateFMul(x, m.c(kLog2E)));
  llvm::Value* r = m.mad(n, m.c(-kLn2Low), m.mad(n, m.c(-kLn2High), x));
  llvm::Value* tail = m.polynomial(r, {1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040});
  llvm::Value* expm1_r = m.mad(m.b.CreateFMul(r, r), tail, r);
  return {m.b.CreateFreeze(m.b.CreateFPToSI(n, m.int_type)), expm1_r};
}

// 2^n in two factors: n reaches 128, and below -126 the result is subnormal.
llvm::Value* exp(const Math& m, llvm::Value* x) {
  const Reduced reduced = reduce(m, m.clamp(x, -104.0, 89.0));
  llvm::Value* half = m.b.CreateAShr(reduced.n, m.ci(1));
  llvm::Value* value = m.b.CreateFMul(m.b.CreateFAdd(reduced.expm1_r, m.c(1)), m.power_of_two(half));
  return m.b.CreateFMul(value, m.power_of_two(m.b.CreateSub(reduced.n, half)));
}

// With e = e^(2|x|) - 1, exact to the last place also near 0: tanh |x| = e / (e + 2); 1 in float32 from |x| =
// 10 on.
llvm::Value* tanh(const Math& m, llvm::Value* x) {
  llvm::Value* doubled = m.clamp(m.b.CreateFMul(m.abs(x), m.c(2)), 0, 20);
  const Reduced reduced = reduce(m, doubled);
  llvm::Value* scale = m.power_of_two(reduced.n);
  llvm::Value* e = m.mad(scale, reduced.expm1_r, m.b.CreateFSub(scale, m.c(1)));
  llvm::Value* value = m.b.CreateFDiv(e, m.b.CreateFAdd(e, m.c(2)));
  return m.b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, value, x);
}

llvm::Value* sigmoid(const Math& m, llvm::Value* x) {
  return m.b.CreateFDiv(m.c(1), m.b.CreateFAdd(m.c(1), exp(m, m.b.CreateFNeg(x))));
}

// x = 2^e * t with sqrt(1/2) <= t < sqrt(2);  log t = 2 atanh(s) with s = (t - 1) / (t + 1), |s| < 0.172, by
// its series.
llvm::Value* log(const Math& m, llvm::Value* x) {
  llvm::Value* is_tiny = m.b.CreateFCmpOLT(x, m.c(0x1p-126));
  llvm::Value* scaled = m.b.CreateSelect(is_tiny, m.b.CreateFMul(x, m.c(0x1p23)), x);
  llvm::Value* bits = m.b.CreateBitCast(scaled, m.int_type);
  // bits of sqrt(1/2): subtracting them carries into the exponent exactly for t >= sqrt(2)
  llvm::Value* shifted = m.b.CreateSub(bits, m.ci(0x3f3504f3));
  llvm::Value* e = m.b.CreateAShr(shifted, m.ci(23));
  llvm::Value* t = m.b.CreateBitCast(m.b.CreateSub(bits, m.b.CreateShl(e, m.ci(23))), m.type);
  llvm::Value* exponent =
      m.b.CreateSIToFP(m.b.CreateSub(e, m.b.CreateSelect(is_tiny, m.ci(23), m.ci(0))), m.type);
  llvm::Value* f = m.b.CreateFSub(t, m.c(1));
  llvm::Value* s = m.b.CreateFDiv(f, m.b.CreateFAdd(f, m.c(2)));
  llvm::Value* z = m.b.CreateFMul(s, s);
  llvm::Value* series = m.b.CreateFMul(z, m.polynomial(z, {2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9}));
  // 2 s = f - s f, so that the leading term is exact
  llvm::Value* log_t = m.b.CreateFSub(f, m.b.CreateFMul(s, m.b.CreateFSub(f, series)));
  llvm::Value* value =
      m.b.CreateFAdd(m.mad(exponent, m.c(kLn2Low), log_t), m.b.CreateFMul(exponent, m.c(kLn2High)));
  value = m.b.CreateSelect(m.b.CreateFCmpOEQ(x, m.c(HUGE_VAL)), x, value);
  value = m.b.CreateSelect(m.b.CreateFCmpOEQ(x, m.c(0)), m.c(-HUGE_VAL), value);
  // negative or NaN
  return m.b.CreateSelect(m.b.CreateFCmpUGE(x, m.c(0)), m.b.CreateSelect(m.b.CreateFCmpUNO(x, x), x, value),
                          m.c(std::nan("")));
}

// |x| < 1: Taylor series, the terms (-1)^n x^2n / (n! (2n + 1)).  Else Abramowitz and Stegun 7.1.26,
// error 1.5e-7.
llvm::Value* erf(const Math& m, llvm::Value* x) {
  llvm::Value* magnitude = m.abs(x);
  llvm::Value* z = m.b.CreateFMul(x, x);
  llvm::Value* series = m.polynomial(z, {1, -1.0 / 3, 1.0 / 10, -1.0 / 42, 1.0 / 216, -1.0 / 1320, 1.0 / 9360,
                                         -1.0 / 75600, 1.0 / 685440, -1.0 / 6894720, 1.0 / 76204800});
  llvm::Value* near = m.b.CreateFMul(m.b.CreateFMul(x, m.c(2 / std::sqrt(kPi))), series);
  llvm::Value* t = m.b.CreateFDiv(m.c(1), m.mad(magnitude, m.c(0.3275911), m.c(1)));
  llvm::Value* tail =
      m.b.CreateFMul(t, m.polynomial(t, {0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429}));
  llvm::Value* far = m.b.CreateFSub(m.c(1), m.b.CreateFMul(tail, exp(m, m.b.CreateFNeg(z))));
  far = m.b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, far, x);
  return m.b.CreateSelect(m.b.CreateFCmpULT(magnitude, m.c(1)), near, far);
}

}  // namespace

llvm::Value* FunctionEmitter::emit_polynomial(const CallNode* node, std::string_view name) {
  struct Row {
    std::string_view name;
    llvm::Value* (*make)(const Math&, llvm::Value*);
  };
  static constexpr Row kRows[] = {
      {"exp", exp}, {"log", log}, {"tanh", tanh}, {"sigmoid", sigmoid}, {"erf", erf}};
  if (node->dtype.element() != kFloat32) return nullptr;
  for (const Row& row : kRows) {
    if (row.name != name) continue;
    llvm::Value* x = emit(node->args[0]);
    return row.make(Math(builder_, x->getType()), x);
  }
  return nullptr;
}

}  // namespace tilewright::codegen
