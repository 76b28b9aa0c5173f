// Translates expressions to LLVM values.
#include <llvm/IR/Intrinsics.h>

#include "tilewright/codegen/llvm/emitter.h"
#include "tilewright/ir/walk.h"
#include "tilewright/support/small_float.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"

namespace tilewright::codegen {
namespace {

bool is_signed(DataType dtype) { return dtype.is_int(); }

// True if `expr` may be evaluated where the program would not: it cannot read outside of a buffer, divide by
// zero or have an effect.
bool is_safe_to_speculate(const PrimExpr& expr) {
  bool safe = true;
  walk(
      expr, [&](const BufferLoadNode*) { safe = false; },
      [&](const CallNode* node) { safe &= is_pure(node->op); });
  return safe;
}

bool is_number(const PrimExpr& expr) {
  const auto* literal = expr.as<FloatImmNode>();
  if (const auto* vector = expr.as<BroadcastNode>()) return is_number(vector->value);
  return literal && literal->value == literal->value;
}

}  // namespace

llvm::Value* FunctionEmitter::splat(llvm::Value* value, int lanes) {
  return lanes == 1 ? value : builder_.CreateVectorSplat(static_cast<unsigned>(lanes), value);
}

llvm::Value* FunctionEmitter::emit_index(const PrimExpr& expr) {
  const bool outer = std::exchange(in_index_, true);
  llvm::Value* value = emit(expr);
  in_index_ = outer;
  return value;
}

llvm::Value* FunctionEmitter::emit_offset(const PrimExpr& expr) {
  llvm::Value* index = emit_index(expr);
  return builder_.CreateIntCast(index, index->getType()->getWithNewType(i64_), expr->dtype.is_int());
}

llvm::Value* FunctionEmitter::emit(const PrimExpr& expr) {
  const PrimExprNode* node = expr.get();
  switch (node->kind) {
    case Kind::kIntImm:
      return llvm::ConstantInt::get(llvm_type(context_, node->dtype),
                                    static_cast<uint64_t>(static_cast<const IntImmNode*>(node)->value), true);
    case Kind::kFloatImm: {
      const double number = static_cast<const FloatImmNode*>(node)->value;
      llvm::Type* type = llvm_type(context_, node->dtype);
      if (type->isIntegerTy())
        return llvm::ConstantInt::get(type, encode_float(number, float_format(node->dtype)));
      return llvm::ConstantFP::get(type, number);
    }
    case Kind::kStringImm: return module_.text(static_cast<const StringImmNode*>(node)->value);
    case Kind::kVar: {
      auto found = values_.find(static_cast<const VarNode*>(node));
      if (found == values_.end())
        throw UserError(expr, "variable {} is used, but nothing defines it",
                        static_cast<const VarNode*>(node)->name_hint);
      return found->second;
    }
    case Kind::kCast: {
      const auto* cast = static_cast<const CastNode*>(node);
      if (llvm::Value* value = emit_flushed_bfloat16(cast)) return value;
      return emit_cast(cast->value->dtype, cast->dtype, emit(cast->value));
    }
    case Kind::kNot: return builder_.CreateNot(emit(static_cast<const NotNode*>(node)->a));
    case Kind::kSelect: {
      const auto* select = static_cast<const SelectNode*>(node);
      llvm::Value* condition = emit(select->condition);
      // both values are computed, also one that the condition protects from dividing by zero
      const bool outer = std::exchange(may_not_count_, true);
      llvm::Value* true_value = emit(select->true_value);
      llvm::Value* false_value = emit(select->false_value);
      may_not_count_ = outer;
      return builder_.CreateSelect(condition, true_value, false_value);
    }
    case Kind::kBufferLoad: return emit_load(static_cast<const BufferLoadNode*>(node));
    case Kind::kRamp: return emit_ramp(static_cast<const RampNode*>(node));
    case Kind::kBroadcast: {
      const auto* vector = static_cast<const BroadcastNode*>(node);
      return splat(emit(vector->value), static_cast<int>(vector->lanes));
    }
    case Kind::kShuffle: return emit_shuffle(static_cast<const ShuffleNode*>(node));
    case Kind::kLet: return emit_let(static_cast<const LetNode*>(node));
    case Kind::kCall: return emit_call(static_cast<const CallNode*>(node));
    case Kind::kAnd:
    case Kind::kOr: return emit_logic(static_cast<const BinaryOpNode*>(node));
    default:
      if (const auto* operation = expr.as<BinaryOpNode>()) return emit_binary(operation);
      throw InternalError("a {} was not lowered before code generation", info_of(*node)->name);
  }
}

llvm::Value* FunctionEmitter::emit_let(const LetNode* node) {
  values_[node->var.get()] = emit(node->value);
  return emit(node->body);
}

llvm::Value* FunctionEmitter::emit_binary(const BinaryOpNode* node) {
  if (node->kind == Kind::kAdd) {
    if (llvm::Value* value = emit_one_plus(node)) return value;
  }
  if (llvm::Value* value = emit_multiply_add(node)) return value;
  llvm::Value* a = emit(node->a);
  llvm::Value* b = emit(node->b);
  const DataType dtype = node->a->dtype;
  const bool real = dtype.is_float();
  TILEWRIGHT_CHECK(!is_bits_only(dtype), "arithmetic on {} was not widened before code generation",
                   dtype.str());
  // signed index arithmetic does not overflow (arith/analyzer.h); data wraps around, as in numpy
  const bool no_wrap = in_index_ && is_signed(dtype);
  switch (node->kind) {
    case Kind::kAdd: return real ? builder_.CreateFAdd(a, b) : builder_.CreateAdd(a, b, "", false, no_wrap);
    case Kind::kSub: return real ? builder_.CreateFSub(a, b) : builder_.CreateSub(a, b, "", false, no_wrap);
    case Kind::kMul: return real ? builder_.CreateFMul(a, b) : builder_.CreateMul(a, b, "", false, no_wrap);
    case Kind::kDiv:
    case Kind::kMod:
      if (real) return node->kind == Kind::kDiv ? builder_.CreateFDiv(a, b) : emit_remainder(a, b);
      return emit_division(node, a, b);
    case Kind::kMin:
    case Kind::kMax: return emit_min_max(node, a, b);
    case Kind::kFloorDiv:
    case Kind::kFloorMod: return emit_floor_division(node, a, b);
    default: return emit_compare(node->kind, dtype, a, b);
  }
}

// Division instructions trap for x / 0 and for INT_MIN / -1.  Data may contain both: x / 0 = 0, x % 0 = 0 as
// in numpy (without its warning), and INT_MIN / -1 wraps around.
llvm::Value* FunctionEmitter::emit_division(const BinaryOpNode* node, llvm::Value* a, llvm::Value* b) {
  return emit_truncated(node, node->kind == Kind::kDiv, a, b);
}

// The result has the sign of b, as in numpy.mod: C's exact remainder, plus b where the signs differ.  a -
// floor(a / b) * b is different if the quotient is rounded, or b is infinite.
llvm::Value* FunctionEmitter::emit_float_remainder(llvm::Value* a, llvm::Value* b) {
  llvm::Value *rest = emit_remainder(a, b), *zero = llvm::Constant::getNullValue(a->getType());
  llvm::Value* differ =
      builder_.CreateXor(builder_.CreateFCmpOLT(rest, zero), builder_.CreateFCmpOLT(b, zero));
  llvm::Value* moved = builder_.CreateSelect(differ, builder_.CreateFAdd(rest, b), rest);
  llvm::Value* signed_zero = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, zero, b);
  return builder_.CreateSelect(builder_.CreateFCmpOEQ(rest, zero), signed_zero, moved);
}

// Floor division by a power of two is a shift; otherwise the truncated quotient is one too large if the signs
// differ and there is a remainder.
llvm::Value* FunctionEmitter::emit_floor_division(const BinaryOpNode* node, llvm::Value* a, llvm::Value* b) {
  const bool is_div = node->kind == Kind::kFloorDiv;
  if (node->dtype.is_float()) {
    if (!is_div) return emit_float_remainder(a, b);
    return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, builder_.CreateFDiv(a, b));
  }
  if (!is_signed(node->dtype)) return emit_truncated(node, is_div, a, b);
  int64_t constant;
  llvm::Type* type = a->getType();
  if (as_const_int(node->b, &constant) && constant > 0 && (constant & (constant - 1)) == 0) {
    const auto shift = static_cast<uint64_t>(llvm::countr_zero(static_cast<uint64_t>(constant)));
    if (is_div) return builder_.CreateAShr(a, llvm::ConstantInt::get(type, shift));
    return builder_.CreateAnd(a, llvm::ConstantInt::get(type, static_cast<uint64_t>(constant - 1)));
  }
  llvm::Value* zero = llvm::ConstantInt::get(type, 0);
  llvm::Value* remainder = emit_truncated(node, false, a, b);
  llvm::Value* differ = builder_.CreateICmpSLT(builder_.CreateXor(remainder, b), zero);
  llvm::Value* adjust = builder_.CreateAnd(builder_.CreateICmpNE(remainder, zero), differ);
  if (!is_div) return builder_.CreateSelect(adjust, builder_.CreateAdd(remainder, b), remainder);
  llvm::Value* quotient = emit_truncated(node, true, a, b);
  return builder_.CreateSelect(adjust, builder_.CreateSub(quotient, llvm::ConstantInt::get(type, 1)),
                               quotient);
}

llvm::Value* FunctionEmitter::emit_truncated(const BinaryOpNode* node, bool is_div, llvm::Value* a,
                                             llvm::Value* b) {
  const bool with_sign = is_signed(node->dtype);
  auto divide = [&](llvm::Value* divisor) {
    if (is_div) return with_sign ? builder_.CreateSDiv(a, divisor) : builder_.CreateUDiv(a, divisor);
    return with_sign ? builder_.CreateSRem(a, divisor) : builder_.CreateURem(a, divisor);
  };
  int64_t constant;
  const bool is_plain = as_const_int(node->b, &constant) && constant != 0 && constant != -1;
  const bool by_extent =
      in_index_ && !may_not_count_ && node->dtype.is_scalar() && is_safe_to_speculate(node->b);
  if (is_plain || by_extent) return divide(b);
  llvm::Type* type = a->getType();
  llvm::Value* zero = llvm::ConstantInt::get(type, 0);
  llvm::Value* is_zero = builder_.CreateICmpEQ(b, zero);
  llvm::Value* traps = is_zero;
  if (with_sign) {
    llvm::Value* min =
        llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(type->getScalarSizeInBits()));
    llvm::Value* wraps = builder_.CreateAnd(builder_.CreateICmpEQ(a, min),
                                            builder_.CreateICmpEQ(b, llvm::ConstantInt::getSigned(type, -1)));
    traps = builder_.CreateOr(traps, wraps);
  }
  llvm::Value* result = divide(builder_.CreateSelect(traps, llvm::ConstantInt::get(type, 1), b));
  return builder_.CreateSelect(is_zero, zero, result);
}

llvm::Value* FunctionEmitter::emit_compare(Kind kind, DataType dtype, llvm::Value* a, llvm::Value* b) {
  using P = llvm::CmpInst::Predicate;
  struct Row {
    Kind kind;
    P real, with_sign, without_sign;
  };
  // every comparison with NaN is false except `!=`
  static constexpr Row kRows[] = {
      {Kind::kEQ, P::FCMP_OEQ, P::ICMP_EQ, P::ICMP_EQ},   {Kind::kNE, P::FCMP_UNE, P::ICMP_NE, P::ICMP_NE},
      {Kind::kLT, P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT}, {Kind::kLE, P::FCMP_OLE, P::ICMP_SLE, P::ICMP_ULE},
      {Kind::kGT, P::FCMP_OGT, P::ICMP_SGT, P::ICMP_UGT}, {Kind::kGE, P::FCMP_OGE, P::ICMP_SGE, P::ICMP_UGE},
  };
  for (const Row& row : kRows) {
    if (row.kind != kind) continue;
    if (dtype.is_float()) return builder_.CreateFCmp(row.real, a, b);
    return builder_.CreateICmp(is_signed(dtype) ? row.with_sign : row.without_sign, a, b);
  }
  throw InternalError("operation {} has no code", static_cast<int>(kind));
}

// Without the order of -0 and 0 this is one instruction and a test for NaN; of comparisons and choices LLVM
// would make twice as many.  float16 is compared as float32, as most processors do.
llvm::Value* FunctionEmitter::emit_nan_min_max(Kind kind, llvm::Value* a, llvm::Value* b) {
  if (llvm::Type* type = a->getType(); type->getScalarType()->isHalfTy()) {
    llvm::Type* wide = type->getWithNewType(builder_.getFloatTy());
    llvm::Value* chosen =
        emit_nan_min_max(kind, builder_.CreateFPExt(a, wide), builder_.CreateFPExt(b, wide));
    return builder_.CreateFPTrunc(chosen, type);
  }
  llvm::FastMathFlags flags = builder_.getFastMathFlags();
  flags.setNoSignedZeros();
  const auto id = kind == Kind::kMin ? llvm::Intrinsic::minimum : llvm::Intrinsic::maximum;
  auto* call = builder_.CreateBinaryIntrinsic(id, a, b);
  if (auto* instruction = llvm::dyn_cast<llvm::Instruction>(call)) instruction->setFastMathFlags(flags);
  return call;
}

// If either operand is NaN, so is the result.  max(x, c) is one instruction: `c > x ? c : x` gives x if x is
// NaN.
llvm::Value* FunctionEmitter::emit_min_max(const BinaryOpNode* node, llvm::Value* a, llvm::Value* b) {
  const Kind order = node->kind == Kind::kMin ? Kind::kLT : Kind::kGT;
  if (!node->dtype.is_float()) return builder_.CreateSelect(emit_compare(order, node->dtype, a, b), a, b);
  if (is_number(node->b)) std::swap(a, b);
  const bool is_one_number = is_number(node->a) || is_number(node->b);
  if (!is_one_number) return emit_nan_min_max(node->kind, a, b);
  return builder_.CreateSelect(emit_compare(order, node->dtype, a, b), a, b);
}

// `a and b` becomes a branch if b must not be evaluated when a is false.
llvm::Value* FunctionEmitter::emit_logic(const BinaryOpNode* node) {
  const bool is_and = node->kind == Kind::kAnd;
  llvm::Value* a = emit(node->a);
  if (!node->dtype.is_scalar() || is_safe_to_speculate(node->b)) {
    llvm::Value* b = emit(node->b);
    return is_and ? builder_.CreateAnd(a, b) : builder_.CreateOr(a, b);
  }
  llvm::BasicBlock* first = builder_.GetInsertBlock();
  llvm::BasicBlock *second = new_block("second"), *done = new_block("done");
  if (is_and)
    builder_.CreateCondBr(a, second, done);
  else
    builder_.CreateCondBr(a, done, second);
  builder_.SetInsertPoint(second);
  llvm::Value* b = emit(node->b);
  second = builder_.GetInsertBlock();
  builder_.CreateBr(done);
  builder_.SetInsertPoint(done);
  llvm::PHINode* result = builder_.CreatePHI(builder_.getInt1Ty(), 2);
  result->addIncoming(builder_.getInt1(!is_and), first);
  result->addIncoming(b, second);
  return result;
}

llvm::Value* FunctionEmitter::emit_cast(DataType from, DataType to, llvm::Value* value) {
  if (from == to) return value;
  llvm::Type* type = llvm_type(context_, to);
  if (is_bits_only(from)) return emit_cast(kFloat32.with_lanes(from.lanes), to, widen_float(value, from));
  if (is_bits_only(to)) return narrow_float(value, from, to);
  if (from.is_handle() || to.is_handle()) {
    if (from.is_handle() && to.is_integral()) return builder_.CreatePtrToInt(value, type);
    if (to.is_handle() && from.is_integral()) return builder_.CreateIntToPtr(value, type);
    throw UserError("a value of dtype {} cannot be cast to {}", from.str(), to.str());
  }
  if (to.is_bool()) {
    llvm::Value* zero = llvm::Constant::getNullValue(value->getType());
    return from.is_float() ? builder_.CreateFCmpUNE(value, zero) : builder_.CreateICmpNE(value, zero);
  }
  const bool from_signed = is_signed(from);
  if (from.is_float() && to.is_float()) return builder_.CreateFPCast(value, type);
  if (to.is_float())
    return from_signed ? builder_.CreateSIToFP(value, type) : builder_.CreateUIToFP(value, type);
  if (!from.is_float()) return builder_.CreateIntCast(value, type, from_signed);
  // out-of-range values have no defined result, but must have a single one: freeze; narrow types wrap around
  // as in C
  if (to.is_uint() && to.bits == 64) return builder_.CreateFreeze(builder_.CreateFPToUI(value, type));
  const int wide_bits = to.bits == 64 || (to.is_uint() && to.bits == 32) ? 64 : 32;
  llvm::Type* wide = llvm_type(context_, DataType::int_(wide_bits, to.lanes));
  return builder_.CreateIntCast(builder_.CreateFreeze(builder_.CreateFPToSI(value, wide)), type, true);
}

llvm::Value* FunctionEmitter::emit_ramp(const RampNode* node) {
  const int lanes = static_cast<int>(node->lanes);
  if (!node->base->dtype.is_scalar()) throw Unsupported(node, "a ramp of vectors is not supported");
  llvm::Value* base = emit(node->base);
  llvm::Value* stride = emit(node->stride);
  std::vector<llvm::Constant*> counts;
  for (int lane = 0; lane < lanes; ++lane) counts.push_back(llvm::ConstantInt::get(base->getType(), lane));
  const bool no_wrap = in_index_ && is_signed(node->dtype);
  llvm::Value* steps =
      builder_.CreateMul(llvm::ConstantVector::get(counts), splat(stride, lanes), "", false, no_wrap);
  return builder_.CreateAdd(splat(base, lanes), steps, "", false, no_wrap);
}

// Lane numbers count through all vectors; every vector is first split into lanes, and LLVM recombines them to
// a shuffle.
llvm::Value* FunctionEmitter::emit_shuffle(const ShuffleNode* node) {
  std::vector<llvm::Value*> lanes;
  for (const PrimExpr& vector : node->vectors) {
    llvm::Value* value = emit(vector);
    if (vector->dtype.is_scalar()) {
      lanes.push_back(value);
      continue;
    }
    for (int lane = 0; lane < vector->dtype.lanes; ++lane)
      lanes.push_back(builder_.CreateExtractElement(value, lane));
  }
  llvm::Value* result = llvm::PoisonValue::get(llvm_type(context_, node->dtype));
  for (size_t n = 0; n < node->indices.size(); ++n) {
    int64_t index;
    if (!as_const_int(node->indices[n], &index))
      throw Unsupported(node, "shuffle: lane numbers must be constants");
    if (index < 0 || index >= static_cast<int64_t>(lanes.size()))
      throw UserError(node, "shuffle: lane {} does not exist, there are {}", index, lanes.size());
    llvm::Value* lane = lanes[static_cast<size_t>(index)];
    if (node->dtype.is_scalar()) return lane;
    result = builder_.CreateInsertElement(result, lane, n);
  }
  return result;
}

}  // namespace tilewright::codegen
