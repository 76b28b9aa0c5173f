// Strided loads by one instruction: A[i:i + 24:3] -> ld1w {z}, p, [x, z, sxtw #2]; vlse32.v
#include <llvm/IR/IntrinsicsAArch64.h>

#include <bit>

#include "tilewright/codegen/llvm/emitter.h"
#include "tilewright/codegen/llvm/sve.h"

namespace tilewright::codegen {

// On NEON, on x86 and for stride 2 on RVV, it is faster to load whole vectors and select from them.  On SVE,
// LLVM selects through the stack, because registers may be wider than promised.
bool loads_by_stride(const NativeTarget& target, DataType dtype, int64_t stride) {
  constexpr int64_t kMostStride = 1 << 20;  // offsets of all lanes fit in 32 bits
  if (dtype.element().num_bytes() < 4 || stride < 2 || stride > kMostStride) return false;
  if (target.triple.starts_with("riscv")) return target.has("v") && stride > 2;
  return target.triple.starts_with("aarch64") && dtype.lanes * dtype.bits > 128 &&
         dtype.lanes * dtype.bits <= target.least_register_bits;
}

// Emits one instruction with the first address and offsets from it, as a machine intrinsic: for a gather,
// LLVM would compute the addresses of all lanes before the loop, which are twice as wide as the elements.
llvm::Value* FunctionEmitter::load_by_stride(const Buffer& buffer, const RampNode* ramp, int64_t stride,
                                             llvm::Type* type, llvm::Value* mask) {
  llvm::Type* element = type->getScalarType();
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(type)->getNumElements(),
                 bits = static_cast<unsigned>(element->getPrimitiveSizeInBits().getFixedValue());
  llvm::Value* all = llvm::Constant::getAllOnesValue(llvm::FixedVectorType::get(builder_.getInt1Ty(), lanes));
  llvm::Value *first = element_pointer(buffer, ramp->base, mask != nullptr),
              *none = llvm::Constant::getNullValue(type);
  if (module_.target.triple.starts_with("riscv")) {
    llvm::Value* loaded =
        builder_.CreateIntrinsic(llvm::Intrinsic::experimental_vp_strided_load, {type, ptr_, i64_},
                                 {first, llvm::ConstantInt::getSigned(i64_, stride * bits / 8),
                                  mask ? mask : all, builder_.getInt32(lanes)});
    return mask ? builder_.CreateSelect(mask, loaded, none) : loaded;
  }
  if (mask || !std::has_single_bit(lanes)) {
    llvm::SmallVector<uint64_t> distances;
    for (unsigned lane = 0; lane < lanes; ++lane) distances.push_back(lane * static_cast<uint64_t>(stride));
    return builder_.CreateMaskedGather(
        type, builder_.CreateGEP(element, first, llvm::ConstantDataVector::get(context_, distances)),
        llvm::Align(bits / 8), mask ? mask : all, none);
  }
  auto* distance = builder_.getIntNTy(bits);
  auto* places = register_type(distance);
  llvm::Value* index = builder_.CreateIntrinsic(
      llvm::Intrinsic::aarch64_sve_index, {places},
      {llvm::ConstantInt::get(distance, 0), llvm::ConstantInt::getSigned(distance, stride)});
  // PTRUE encodes lane counts 1 to 8 as themselves, 16 as 9, 32 as 10, ..
  const unsigned pattern = lanes <= 8 ? lanes : llvm::Log2_32(lanes) + 5;
  auto* masks = llvm::ScalableVectorType::get(builder_.getInt1Ty(), 128 / bits);
  llvm::Value* chosen =
      builder_.CreateIntrinsic(llvm::Intrinsic::aarch64_sve_ptrue, {masks}, {builder_.getInt32(pattern)});
  const llvm::Intrinsic::ID gather = bits == 64 ? llvm::Intrinsic::aarch64_sve_ld1_gather_index
                                                : llvm::Intrinsic::aarch64_sve_ld1_gather_sxtw_index;
  llvm::Value* loaded = builder_.CreateIntrinsic(gather, {register_type(element)}, {chosen, first, index});
  return builder_.CreateExtractVector(type, loaded, builder_.getInt64(0));
}

}  // namespace tilewright::codegen
