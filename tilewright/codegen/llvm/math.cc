// exp, log, log1p, tanh, sigmoid, erf, sin and cos of float32 as polynomials, with the same operations on scalars
// and vectors, so that a loop has the same results with and without vectors.  Worst errors found by
// tests/codegen/math_test.cc: exp 1.2, log 2, log1p 3, tanh 1.4, sigmoid 2.5, erf 1.4, sin and cos 1.5 units in the
// last place.  The coefficients minimise the largest relative error (found by iterated least squares) and
// were rounded to float32 one after the other.
#include <cmath>
#include <limits>

#include "tilewright/codegen/llvm/math.h"

namespace tilewright::codegen {
namespace {

constexpr double kLog2E = 1.44269504088896340736;
// ln 2 as a sum of two terms; the first has 9 bits, so that its product with an integer below 2^15 is exact
// in float32
constexpr double kLn2High = 0.693359375, kLn2Low = -2.12194440054690583e-4;

/// x = n * ln 2 + r with |r| <= ln 2 / 2, and the bits of n + kRounding.
struct Reduced {
  llvm::Value *n, *bits, *r;
};

Reduced reduce(const Math& m, llvm::Value* x) {
  llvm::Value* sum = m.mad(x, m.c(kLog2E), m.c(kRounding));
  llvm::Value* n = m.b.CreateFSub(sum, m.c(kRounding));
  llvm::Value* r = m.mad(n, m.c(-kLn2Low), m.mad(n, m.c(-kLn2High), x));
  return {n, m.b.CreateBitCast(sum, m.int_type), r};
}

// 1 + r (1 + r t(r)), relative error 3e-9.
llvm::Value* exp_of_rest(const Math& m, llvm::Value* r) {
  llvm::Value* t = m.polynomial(r, {0.4999999403953552, 0.1666652113199234, 0.04166826605796814,
                                    0.008368683978915215, 0.0013820945750921965});
  return m.mad(m.mad(t, r, m.c(1)), r, m.c(1));
}

// 2^n as a product of two factors: n reaches 128, and below -126 the result is subnormal.  Results that are 0
// in the end, as for masks of attention, must not be subnormal in between: each subnormal costs 150 cycles on
// Intel processors.
llvm::Value* exp(const Math& m, llvm::Value* x) {
  llvm::Value* is_zero = m.b.CreateFCmpOLT(x, m.c(-104));
  const Reduced reduced = reduce(m, m.at_most(m.b.CreateSelect(is_zero, m.c(0), x), 89));
  llvm::Value* value = exp_of_rest(m, reduced.r);
  llvm::Value* scaled = m.scalef(value, reduced.n);
  if (!scaled) {
    llvm::Value* n = m.b.CreateSub(reduced.bits, m.ci(kRoundingBits));
    llvm::Value* half = m.b.CreateAShr(n, m.ci(1));
    value = m.b.CreateFMul(value, m.power_of_two(half));
    scaled = m.b.CreateFMul(value, m.power_of_two(m.b.CreateSub(n, half)));
  }
  return m.b.CreateSelect(is_zero, m.c(0), scaled);
}

}  // namespace

llvm::Value* exp_of_small(const Math& m, llvm::Value* x) {
  const Reduced reduced = reduce(m, x);
  llvm::Value* value = exp_of_rest(m, reduced.r);
  if (llvm::Value* scaled = m.scalef(value, reduced.n)) return scaled;
  return m.b.CreateFMul(value, m.power_of_two(reduced.bits));
}

namespace {

// |x| < 0.625: x + x^3 p(x^2), relative error 5e-9.  Else 1 - 2 / (e^(2|x|) + 1), which is 1 from |x| = 10
// on.
llvm::Value* tanh(const Math& m, llvm::Value* x) {
  llvm::Value* magnitude = m.abs(x);
  llvm::Value* z = m.b.CreateFMul(x, x);
  llvm::Value* series = m.polynomial(z, {-0.3333328068256378, 0.13331405818462372, -0.05373651534318924,
                                         0.02062816731631756, -0.005692296661436558});
  llvm::Value* near = m.mad(m.b.CreateFMul(z, series), magnitude, magnitude);
  llvm::Value* e = exp_of_small(m, m.clamp(m.b.CreateFMul(magnitude, m.c(2)), 0, 20));
  llvm::Value* far = m.b.CreateFSub(m.c(1), m.b.CreateFDiv(m.c(2), m.b.CreateFAdd(e, m.c(1))));
  return m.copysign(m.b.CreateSelect(m.b.CreateFCmpULT(magnitude, m.c(0.625)), near, far), x);
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
  llvm::Value* log_t = m.mad(m.b.CreateFNeg(s), m.b.CreateFSub(f, series), f);
  llvm::Value* value = m.mad(exponent, m.c(kLn2High), m.mad(exponent, m.c(kLn2Low), log_t));
  value = m.b.CreateSelect(m.b.CreateFCmpOEQ(x, m.c(HUGE_VAL)), x, value);
  value = m.b.CreateSelect(m.b.CreateFCmpOEQ(x, m.c(0)), m.c(-HUGE_VAL), value);
  // negative or NaN
  return m.b.CreateSelect(m.b.CreateFCmpUGE(x, m.c(0)), m.b.CreateSelect(m.b.CreateFCmpUNO(x, x), x, value),
                          m.c(std::nan("")));
}

// log u for u = 1 + x, plus what the sum has lost, over u.
llvm::Value* log1p(const Math& m, llvm::Value* x) {
  llvm::Value* u = m.b.CreateFAdd(x, m.c(1));
  llvm::Value* lost = m.b.CreateFSub(x, m.b.CreateFSub(u, m.c(1)));
  llvm::Value* log_u = log(m, u);
  llvm::Value* value = m.b.CreateFAdd(log_u, m.b.CreateFDiv(lost, u));
  // 0, infinity and NaN have lost nothing, but the quotient is no number
  llvm::Value* is_plain = m.b.CreateAnd(m.b.CreateFCmpOGT(u, m.c(0)), m.b.CreateFCmpOLT(u, m.c(HUGE_VAL)));
  value = m.b.CreateSelect(is_plain, value, log_u);
  return m.b.CreateSelect(m.b.CreateFCmpOEQ(u, m.c(1)), x, value);
}

// |x| < 0.9375: x + x p(x^2), relative error 2e-8.  Else 1 - e^-q(|x|) with q(x) = -log(1 - erf x), error
// 1.5e-9; 1 from |x| = 4 on.
llvm::Value* erf(const Math& m, llvm::Value* x) {
  llvm::Value* magnitude = m.abs(x);
  llvm::Value* series = m.polynomial(m.b.CreateFMul(x, x),
                                     {0.12837915122509003, -0.3761247992515564, 0.11281617730855942,
                                      -0.02675856463611126, 0.004980687517672777, -0.0005925124860368669});
  llvm::Value* near = m.mad(series, x, x);
  llvm::Value* q =
      m.polynomial(m.clamp(magnitude, 0, 4),
                   {0.00022195823839865625, 1.1275676488876343, 0.637363076210022, 0.10377373546361923,
                    -0.022151215001940727, 0.003024319652467966, -0.00019401981262490153});
  llvm::Value* far = m.b.CreateFSub(m.c(1), exp_of_small(m, m.b.CreateFNeg(q)));
  return m.b.CreateSelect(m.b.CreateFCmpULT(magnitude, m.c(0.9375)), near, m.copysign(far, x));
}

// pi / 2 as a sum of three terms; the first two have 26 bits, so that their products with an integer below
// 2^27 are exact in float64.
constexpr double kHalfPi[] = {0x1.921fb5p+0, 0x1.110b46p-26, 0x1.1a62633145c07p-54};
constexpr double kMostQuarters = 1 << 27, kTwoByPi = 0.63661977236758134308;
constexpr double kRounding64 = 6755399441055744;  // 1.5 * 2^52: see kRounding

// |x| = n * pi / 2 + r with |r| <= pi / 4, n < kMostQuarters, in float64 except for the polynomials of sin r
// (relative error 4e-9) and cos r (2e-10).
llvm::Value* sine(const Math& m, llvm::Value* x, bool is_cosine) {
  auto* wide = m.type->getWithNewType(m.b.getDoubleTy());
  const auto c = [&](double value) { return llvm::ConstantFP::get(wide, value); };
  llvm::Value* rest = m.b.CreateFPExt(m.abs(x), wide);
  llvm::Value* n = m.b.CreateFSub(m.mad(rest, c(kTwoByPi), c(kRounding64)), c(kRounding64));
  for (double part : kHalfPi) rest = m.mad(n, c(-part), rest);
  llvm::Value* r = m.b.CreateFPTrunc(rest, m.type);
  llvm::Value* quarter = m.b.CreateFreeze(m.b.CreateFPToSI(n, m.int_type));
  if (is_cosine) quarter = m.b.CreateAdd(quarter, m.ci(1));
  llvm::Value* z = m.b.CreateFMul(r, r);
  llvm::Value* of_sine =
      m.polynomial(z, {-0.16666655242443085, 0.008332189172506332, -0.00019518285989761353});
  llvm::Value* of_cosine =
      m.polynomial(z, {0.04166664555668831, -0.0013887309469282627, 2.4432327336398885e-05});
  llvm::Value* sine_r = m.mad(m.b.CreateFMul(z, of_sine), r, r);
  llvm::Value* cosine_r = m.mad(m.b.CreateFMul(z, z), of_cosine, m.mad(z, m.c(-0.5), m.c(1)));
  llvm::Value* is_odd = m.b.CreateICmpNE(m.b.CreateAnd(quarter, m.ci(1)), m.ci(0));
  llvm::Value* value = m.b.CreateBitCast(m.b.CreateSelect(is_odd, cosine_r, sine_r), m.int_type);
  llvm::Value* sign = m.b.CreateShl(m.b.CreateAnd(quarter, m.ci(2)), m.ci(30));
  if (!is_cosine)
    sign = m.b.CreateXor(
        sign, m.b.CreateAnd(m.b.CreateBitCast(x, m.int_type), m.ci(std::numeric_limits<int32_t>::min())));
  return m.b.CreateBitCast(m.b.CreateXor(value, sign), m.type);
}

}  // namespace

// Calls the C library where |x| is too large for float64 to hold the remainder, infinite or NaN.
llvm::Value* FunctionEmitter::emit_sine(const CallNode* node, bool is_cosine) {
  llvm::Value* x = emit(node->args[0]);
  const Math math(builder_, x->getType(), module_.target);
  llvm::Value* is_small = builder_.CreateFCmpOLT(math.abs(x), math.c(kMostQuarters));
  if (!node->dtype.is_scalar()) is_small = builder_.CreateAndReduce(is_small);
  return emit_branches(
      is_small, [&] { return sine(math, x, is_cosine); },
      [&] { return emit_libm(node->dtype, is_cosine ? "cos" : "sin", {x}); });
}

llvm::Value* FunctionEmitter::emit_polynomial(const CallNode* node, std::string_view name) {
  struct Row {
    std::string_view name;
    llvm::Value* (*make)(const Math&, llvm::Value*);
  };
  static constexpr Row kRows[] = {{"exp", exp},   {"log", log},         {"log1p", log1p},
                                  {"tanh", tanh}, {"sigmoid", sigmoid}, {"erf", erf}};
  if (node->dtype.element() != kFloat32) return nullptr;
  if (name == "sin" || name == "cos") return emit_sine(node, name == "cos");
  if (name == "pow") return emit_power(node);
  for (const Row& row : kRows) {
    if (row.name != name) continue;
    llvm::Value* x = emit(node->args[0]);
    return row.make(Math(builder_, x->getType(), module_.target), x);
  }
  return nullptr;
}

}  // namespace tilewright::codegen
