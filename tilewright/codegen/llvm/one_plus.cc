// 1 + tanh x and 1 + erf x, or half of them, as in gelu: by one exponential, which keeps the digits that the
// sum would lose near -1.  Worst errors found by tests/codegen/math_test.cc, in units in the last place: 1 +
// tanh 2.5, 1 + erf 1.2 for x >= 0; for x < 0, the error of 1 + erf is 1e-7.
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "tilewright/codegen/llvm/math.h"

namespace tilewright::codegen {
namespace {

/// `scale` * (1 + name(x)).
struct OnePlus {
  PrimExpr x;
  double scale = 1;
};

// `factor` * name(x), or name(x) if `factor` is 1.
std::optional<PrimExpr> argument(const PrimExpr& term, std::string_view name, double factor) {
  const PrimExpr* value = &term;
  if (const auto* product = term.as<BinaryOpNode>(); product && product->kind == Kind::kMul) {
    const FloatImmNode *a = number_of(product->a), *b = number_of(product->b);
    const FloatImmNode* number = a ? a : b;
    if ((a && b) || !number || number->value != factor) return std::nullopt;
    value = number == a ? &product->b : &product->a;
  } else if (factor != 1) {
    return std::nullopt;
  }
  const auto* call = value->as<CallNode>();
  const auto* op = call ? call->op.as<OpNode>() : nullptr;
  if (!op || op->name != name) return std::nullopt;
  return call->args[0];
}

std::optional<OnePlus> match(const BinaryOpNode* sum, std::string_view name) {
  const FloatImmNode *a = number_of(sum->a), *b = number_of(sum->b);
  if ((a != nullptr) == (b != nullptr)) return std::nullopt;
  const double scale = (a ? a : b)->value;
  if (scale != 1 && scale != 0.5) return std::nullopt;
  const std::optional<PrimExpr> x = argument(a ? sum->b : sum->a, name, scale);
  if (!x) return std::nullopt;
  return OnePlus{*x, scale};
}

// scale * 2 / (1 + e^-2x); 0 below -43, since it may be multiplied by the largest float32.
llvm::Value* one_plus_tanh(const Math& m, llvm::Value* x, double scale) {
  llvm::Value* exponent = m.b.CreateFMul(x, m.c(-2));
  llvm::Value* e = exp_of_small(m, m.clamp(exponent, -20, 86));
  llvm::Value* value = m.b.CreateFDiv(m.c(2 * scale), m.b.CreateFAdd(m.c(1), e));
  return m.b.CreateSelect(m.b.CreateFCmpOGT(exponent, m.c(86)), m.c(0), value);
}

// 2^-q for q >= 0; 0 from q = 126 on.
llvm::Value* exp2_of_negative(const Math& m, llvm::Value* q) {
  llvm::Value* sum = m.b.CreateFSub(m.c(kRounding), q);
  llvm::Value* n = m.b.CreateFSub(sum, m.c(kRounding));
  llvm::Value* rest = m.b.CreateFAdd(n, q);  // |rest| <= 1/2
  // 2^-rest, relative error 3e-9
  llvm::Value* value =
      m.polynomial(rest, {1, -0.6931471824645996, 0.24022647738456726, -0.05550359934568405,
                          0.009618505835533142, -0.0013390806270763278, 0.00015326471475418657});
  llvm::Value* scaled = m.scalef(value, n);
  if (!scaled) scaled = m.b.CreateFMul(value, m.power_of_two(m.b.CreateBitCast(sum, m.int_type)));
  return m.b.CreateSelect(m.b.CreateFCmpOGE(q, m.c(126)), m.c(0), scaled);
}

// For x < 0 this is erfc|x| = 2^-q(|x|), else 2 minus that; both times scale.  The error of 2^-q is 6e-8, and
// the relative error 1e-5 up to |x| = 2; from 4 on it decreases faster than erfc does.
llvm::Value* one_plus_erf(const Math& m, llvm::Value* x, double scale) {
  const double halvings = -std::log2(scale);
  llvm::Value* q = m.polynomial(
      m.abs(x), {halvings, 1.6279090642929077, 0.9184076189994812, 0.14853313565254211, -0.02838953398168087,
                 0.0009574664290994406, 0.0013597659999504685, -0.000399637792725116, 3.901624950231053e-05});
  llvm::Value* tail = exp2_of_negative(m, q);
  llvm::Value* is_negative = m.b.CreateFCmpOLT(x, m.c(0));
  return m.b.CreateSelect(is_negative, tail, m.b.CreateFSub(m.c(2 * scale), tail));
}

}  // namespace

llvm::Value* FunctionEmitter::emit_one_plus(const BinaryOpNode* sum) {
  using Make = llvm::Value* (*)(const Math&, llvm::Value*, double);
  if (sum->dtype.element() != kFloat32) return nullptr;
  for (const auto& [name, make] :
       {std::pair<std::string_view, Make>{"tir.tanh", one_plus_tanh}, {"tir.erf", one_plus_erf}}) {
    if (const std::optional<OnePlus> found = match(sum, name)) {
      llvm::Value* x = emit(found->x);
      return make(Math(builder_, x->getType(), module_.target), x, found->scale);
    }
  }
  return nullptr;
}

}  // namespace tilewright::codegen
