// Decides by the expression alone where a product and the sum that it is added to are rounded as one.  LLVM would
// decide by what is around them, e.g. by the block to which it moves the product: the same program would have
// other bits in a tile of other rows.  So no operation carries the flag `contract`.
#include "tilewright/codegen/llvm/multiply_add.h"

#include <llvm/IR/Intrinsics.h>

#include "tilewright/codegen/llvm/math.h"
#include "tilewright/tir/op.h"

namespace tilewright::codegen {

llvm::Value* multiply_add(llvm::IRBuilder<>& builder, const NativeTarget& target, llvm::Value* x,
                          llvm::Value* y, llvm::Value* z) {
  if (!target.contracts) return builder.CreateFAdd(builder.CreateFMul(x, y), z);
  return builder.CreateIntrinsic(llvm::Intrinsic::fmuladd, {z->getType()}, {x, y, z});
}

// A square is a product.  So is one of scalars that a vectorised loop does not change: its factors become vectors.
std::optional<Factors> FunctionEmitter::emit_factors(const PrimExpr& expr) {
  const auto* vector = expr.as<BroadcastNode>();
  const PrimExpr& value = vector ? vector->value : expr;
  const auto lanes = [&](llvm::Value* factor) {
    return vector ? splat(factor, static_cast<int>(vector->lanes)) : factor;
  };
  if (const auto* product = value.as<MulNode>()) {
    llvm::Value* x = lanes(emit(product->a));
    return Factors{x, lanes(emit(product->b))};
  }
  const auto* power = value.as<CallNode>();
  if (!power || !tir::is_call_of(power, "tir.pow") || power->dtype.element() != kFloat32) return std::nullopt;
  const FloatImmNode* exponent = number_of(power->args[1]);
  if (!exponent || exponent->value != 2) return std::nullopt;
  llvm::Value* x = lanes(emit(power->args[0]));
  return Factors{x, x};
}

// x * y + z, z + x * y, z - x * y or x * y - z; of two products the second is the one that is not rounded.
llvm::Value* FunctionEmitter::emit_multiply_add(const BinaryOpNode* node) {
  const bool is_sub = node->kind == Kind::kSub;
  if (!module_.target.contracts || !node->dtype.is_float() || (node->kind != Kind::kAdd && !is_sub))
    return nullptr;
  if (std::optional<Factors> product = emit_factors(node->b)) {
    if (is_sub) product->x = builder_.CreateFNeg(product->x);
    return multiply_add(builder_, module_.target, product->x, product->y, emit(node->a));
  }
  if (const std::optional<Factors> product = emit_factors(node->a)) {
    llvm::Value* other = emit(node->b);
    return multiply_add(builder_, module_.target, product->x, product->y,
                        is_sub ? builder_.CreateFNeg(other) : other);
  }
  return nullptr;
}

}  // namespace tilewright::codegen
