// Translates dot_add to a dot product instruction, or to multiplications.
//   x86      vpdpbusd (AVX512-VNNI, AVX-VNNI): uint8 * int8;  vdpbf16ps (AVX512-BF16)
//   AArch64  sdot, udot of NEON and of SVE
// vpdpbusd takes one unsigned and one signed operand: int8 * int8 is (a + 128) * b - 128 * b.
// Source: Intel Intrinsics Guide, _mm512_dpbusd_epi32, _mm512_dpbf16_ps; Arm Neon Intrinsics Reference.
#include "tilewright/tir/dot_add.h"

#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "tilewright/codegen/llvm/emitter.h"
#include "tilewright/codegen/llvm/sve.h"

namespace tilewright::codegen {
namespace {

// The intrinsic for vectors of `bits`; 0 if there is none.
llvm::Intrinsic::ID by_width(uint64_t bits, llvm::Intrinsic::ID of_128, llvm::Intrinsic::ID of_256,
                             llvm::Intrinsic::ID of_512) {
  return bits == 128 ? of_128 : bits == 256 ? of_256 : bits == 512 ? of_512 : llvm::Intrinsic::not_intrinsic;
}

llvm::Intrinsic::ID bytes_instruction(const NativeTarget& target, uint64_t bits) {
  using namespace llvm::Intrinsic;
  const bool has_512 = target.has("avx512vnni");
  if (!has_512 && !target.has("avxvnni")) return not_intrinsic;
  const ID id = by_width(bits, x86_avx512_vpdpbusd_128, x86_avx512_vpdpbusd_256, x86_avx512_vpdpbusd_512);
  return bits == 512 && !has_512 ? not_intrinsic : id;
}

class Dot {
 public:
  Dot(llvm::IRBuilder<>& builder, const NativeTarget& target, const DotAdd& dot)
      : b_(builder), target_(target), dot_(dot), lanes_(dot.sum->dtype.lanes) {}

  llvm::Value* emit(llvm::Value* sum, llvm::Value* x, llvm::Value* y) {
    if (dot_.is_shared) x = spread(x);
    if (llvm::Value* value = dot_.sum->dtype.is_float() ? bfloats(sum, x, y) : bytes(sum, x, y)) return value;
    return products(sum, x, y);
  }

 private:
  bool is_signed(const PrimExpr& e) const { return e->dtype.is_int(); }
  uint64_t bits() const { return 32 * static_cast<uint64_t>(lanes_); }

  // Broadcasts one group to all groups, as a single integer of the group's bits.
  llvm::Value* spread(llvm::Value* group) {
    llvm::Type* element = llvm::cast<llvm::FixedVectorType>(group->getType())->getElementType();
    auto* all = llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes_ * dot_.group));
    const auto bits = static_cast<unsigned>(dot_.group) * element->getPrimitiveSizeInBits().getFixedValue();
    llvm::Value* word = b_.CreateBitCast(group, b_.getIntNTy(static_cast<unsigned>(bits)));
    return b_.CreateBitCast(b_.CreateVectorSplat(static_cast<unsigned>(lanes_), word), all);
  }

  llvm::Value* words(llvm::Value* x) {
    return b_.CreateBitCast(x, llvm::FixedVectorType::get(b_.getInt32Ty(), static_cast<unsigned>(lanes_)));
  }

  llvm::Value* bytes(llvm::Value* sum, llvm::Value* x, llvm::Value* y) {
    if (dot_.group != 4) return nullptr;
    const bool is_x_signed = is_signed(dot_.a), is_y_signed = is_signed(dot_.b);
    if (target_.triple.starts_with("aarch64"))
      return is_x_signed == is_y_signed ? bytes_of_arm(sum, x, y, is_x_signed) : nullptr;
    const llvm::Intrinsic::ID id = bytes_instruction(target_, bits());
    if (id == llvm::Intrinsic::not_intrinsic || (!is_x_signed && !is_y_signed)) return nullptr;
    if (is_x_signed && !is_y_signed) std::swap(x, y);
    if (is_x_signed != is_y_signed) return b_.CreateIntrinsic(id, {}, {sum, words(x), words(y)});
    llvm::Value* offset = llvm::ConstantInt::getSigned(x->getType(), -128);
    llvm::Value* shifted = b_.CreateIntrinsic(id, {}, {sum, words(b_.CreateXor(x, offset)), words(y)});
    llvm::Value* zero = llvm::Constant::getNullValue(sum->getType());
    return b_.CreateSub(shifted, b_.CreateIntrinsic(id, {}, {zero, words(offset), words(y)}));
  }

  llvm::Value* bytes_of_arm(llvm::Value* sum, llvm::Value* x, llvm::Value* y, bool is_signed) {
    using namespace llvm::Intrinsic;
    if (bits() == 128 && target_.has("dotprod"))
      return b_.CreateIntrinsic(is_signed ? aarch64_neon_sdot : aarch64_neon_udot,
                                {sum->getType(), x->getType()}, {sum, x, y});
    if (bits() <= 128 || bits() > static_cast<uint64_t>(target_.least_register_bits)) return nullptr;
    llvm::Value* first = in_register(b_, sum);
    llvm::Value* added =
        b_.CreateIntrinsic(is_signed ? aarch64_sve_sdot : aarch64_sve_udot, {first->getType()},
                           {first, in_register(b_, x), in_register(b_, y)});
    return b_.CreateExtractVector(sum->getType(), added, b_.getInt64(0));
  }

  llvm::Value* bfloats(llvm::Value* sum, llvm::Value* x, llvm::Value* y) {
    using namespace llvm::Intrinsic;
    if (dot_.group != 2 || !target_.has("avx512bf16")) return nullptr;
    const ID id = by_width(bits(), x86_avx512bf16_dpbf16ps_128, x86_avx512bf16_dpbf16ps_256,
                           x86_avx512bf16_dpbf16ps_512);
    if (id == not_intrinsic) return nullptr;
    auto* type = llvm::FixedVectorType::get(b_.getBFloatTy(), static_cast<unsigned>(2 * lanes_));
    return b_.CreateIntrinsic(id, {}, {sum, b_.CreateBitCast(x, type), b_.CreateBitCast(y, type)});
  }

  // Every group-th lane, from the k-th on, converted to the type of the sum.
  llvm::Value* widened(llvm::Value* x, const PrimExpr& e, int k) {
    std::vector<int> places;
    for (int n = 0; n < lanes_; ++n) places.push_back(n * dot_.group + k);
    llvm::Value* part = b_.CreateShuffleVector(x, places);
    auto* type = llvm::FixedVectorType::get(b_.getInt32Ty(), static_cast<unsigned>(lanes_));
    if (!dot_.sum->dtype.is_float()) return b_.CreateIntCast(part, type, is_signed(e));
    // a bfloat16 is the upper half of a float32
    llvm::Value* bits = b_.CreateShl(b_.CreateZExt(part, type), uint64_t{16});
    return b_.CreateBitCast(bits, llvm::FixedVectorType::get(b_.getFloatTy(), static_cast<unsigned>(lanes_)));
  }

  llvm::Value* products(llvm::Value* sum, llvm::Value* x, llvm::Value* y) {
    for (int k = 0; k < dot_.group; ++k) {
      llvm::Value *a = widened(x, dot_.a, k), *b = widened(y, dot_.b, k);
      sum = dot_.sum->dtype.is_float() ? multiply_add(b_, target_, a, b, sum)
                                       : b_.CreateAdd(sum, b_.CreateMul(a, b));
    }
    return sum;
  }

  llvm::IRBuilder<>& b_;
  const NativeTarget& target_;
  const DotAdd& dot_;
  const int lanes_;
};

}  // namespace

llvm::Value* FunctionEmitter::emit_dot_add(const CallNode* node) {
  const DotAdd dot = tir::dot_add(node);
  llvm::Value *sum = emit(dot.sum), *a = emit(dot.a), *b = emit(dot.b);
  auto as_vector = [&](llvm::Value* value) {  // a single lane is a scalar
    if (value->getType()->isVectorTy()) return value;
    return builder_.CreateInsertElement(
        llvm::PoisonValue::get(llvm::FixedVectorType::get(value->getType(), 1)), value, uint64_t{0});
  };
  llvm::Value* result = Dot(builder_, module_.target, dot).emit(as_vector(sum), as_vector(a), as_vector(b));
  return sum->getType()->isVectorTy() ? result : builder_.CreateExtractElement(result, uint64_t{0});
}

}  // namespace tilewright::codegen
