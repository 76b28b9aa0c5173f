// Conversions of float16 for CPUs without such instructions: LLVM then calls functions of the compiler's
// run-time library, which neither the JIT nor an exported library links.  The module defines its own.
#include "tilewright/codegen/llvm/emitter.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

namespace tilewright::codegen {
namespace {

bool is_half(const llvm::Value* value) { return value->getType()->getScalarType()->isHalfTy(); }

struct Uses {
  bool half = false;            // uses values of float16
  bool double_to_half = false;  // uses the conversion that F16C lacks
};
Uses uses_of(const llvm::Module& module) {
  Uses uses;
  for (const llvm::Function& function : module) {
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      uses.half |= is_half(&instruction);
      for (const llvm::Use& operand : instruction.operands()) uses.half |= is_half(operand.get());
      uses.double_to_half |= llvm::isa<llvm::FPTruncInst>(instruction) && is_half(&instruction) &&
                             instruction.getOperand(0)->getType()->getScalarType()->isDoubleTy();
    }
  }
  return uses;
}

/// The layout of a float type: the position of the exponent, and the exponent of 1.0.
struct Format {
  unsigned bits, mantissa_bits;
  uint64_t one_exponent;
};
constexpr Format kSingle{32, 23, 127}, kDouble{64, 52, 1023}, kHalf{16, 10, 15};

// The bits of 2^power.
constexpr uint64_t power_of_two(const Format& format, int power) {
  return (format.one_exponent + static_cast<uint64_t>(static_cast<int64_t>(power))) << format.mantissa_bits;
}
constexpr int kMinNormal = -14;     // float16: the smallest normal number is 2^-14
constexpr int kMinSubnormal = -24;  // and the smallest number 2^-24
constexpr uint64_t kHalfInfinity = 0x7c00, kHalfQuiet = 0x0200;

// float __extendhfsf2(half): exact.
void fill_extend(llvm::IRBuilder<>& builder, llvm::Value* half) {
  llvm::Type *i32 = builder.getInt32Ty(), *single = builder.getFloatTy();
  llvm::Value* bits = builder.CreateZExt(builder.CreateBitCast(half, builder.getInt16Ty()), i32);
  llvm::Value* sign = builder.CreateShl(builder.CreateAnd(bits, 0x8000), 16);
  llvm::Value* magnitude = builder.CreateAnd(bits, 0x7fff);
  constexpr unsigned kShift = kSingle.mantissa_bits - kHalf.mantissa_bits;
  llvm::Value* shifted = builder.CreateShl(magnitude, kShift);
  // normal numbers get another exponent, infinity and NaN all exponent bits; subnormals are a small integer
  // times 2^-24
  constexpr uint64_t kRebias = (kSingle.one_exponent - kHalf.one_exponent) << kSingle.mantissa_bits;
  llvm::Value* normal = builder.CreateAdd(shifted, builder.getInt32(static_cast<uint32_t>(kRebias)));
  llvm::Value* special = builder.CreateOr(shifted, builder.getInt32(0x7f800000));
  llvm::Value* is_nan =
      builder.CreateICmpUGT(magnitude, builder.getInt32(static_cast<uint32_t>(kHalfInfinity)));
  special = builder.CreateSelect(is_nan, builder.CreateOr(special, builder.getInt32(0x00400000)), special);
  llvm::Value* scale = llvm::ConstantFP::get(single, 0x1p-24);
  llvm::Value* subnormal =
      builder.CreateBitCast(builder.CreateFMul(builder.CreateUIToFP(magnitude, single), scale), i32);
  llvm::Value* is_special =
      builder.CreateICmpUGE(magnitude, builder.getInt32(static_cast<uint32_t>(kHalfInfinity)));
  llvm::Value* is_subnormal = builder.CreateICmpULT(magnitude, builder.getInt32(1u << kHalf.mantissa_bits));
  llvm::Value* result = builder.CreateSelect(is_special, special, normal);
  result = builder.CreateSelect(is_subnormal, subnormal, result);
  builder.CreateRet(builder.CreateBitCast(builder.CreateOr(result, sign), single));
}

// half __truncsfhf2(float), half __truncdfhf2(double): round to nearest, ties to even.
void fill_truncate(llvm::IRBuilder<>& builder, llvm::Value* wide, const Format& from) {
  llvm::Type* word = builder.getIntNTy(from.bits);
  auto number = [&](uint64_t value) { return llvm::ConstantInt::get(word, value); };
  llvm::Value* bits = builder.CreateBitCast(wide, word);
  llvm::Value* sign = builder.CreateAnd(builder.CreateLShr(bits, from.bits - kHalf.bits), number(0x8000));
  llvm::Value* magnitude = builder.CreateAnd(bits, number((uint64_t{1} << (from.bits - 1)) - 1));
  const unsigned shift = from.mantissa_bits - kHalf.mantissa_bits;
  const uint64_t infinity = ((uint64_t{1} << (from.bits - 1 - from.mantissa_bits)) - 1) << from.mantissa_bits;

  llvm::Value* payload = builder.CreateAnd(builder.CreateLShr(magnitude, shift), number(0x3ff));
  llvm::Value* nan = builder.CreateOr(payload, number(kHalfInfinity | kHalfQuiet));
  // adding almost half of the last place, and one more if that place is odd, carries exactly where rounding
  // goes up; from 65520 on the carry reaches the exponent of infinity
  const uint64_t rebias = (from.one_exponent - kHalf.one_exponent) << from.mantissa_bits;
  llvm::Value* odd = builder.CreateAnd(builder.CreateLShr(magnitude, shift), number(1));
  llvm::Value* rounded = builder.CreateAdd(builder.CreateSub(magnitude, number(rebias)),
                                           builder.CreateAdd(odd, number((uint64_t{1} << (shift - 1)) - 1)));
  llvm::Value* normal = builder.CreateLShr(rounded, shift);
  // the last place of this power is 2^-24, so adding it rounds to multiples of 2^-24
  const uint64_t magic = power_of_two(from, kMinSubnormal + static_cast<int>(from.mantissa_bits));
  llvm::Value* sum = builder.CreateFAdd(builder.CreateBitCast(magnitude, wide->getType()),
                                        builder.CreateBitCast(number(magic), wide->getType()));
  llvm::Value* subnormal = builder.CreateSub(builder.CreateBitCast(sum, word), number(magic));

  llvm::Value* result = builder.CreateSelect(
      builder.CreateICmpULT(magnitude, number(power_of_two(from, kMinNormal))), subnormal, normal);
  result = builder.CreateSelect(builder.CreateICmpUGE(magnitude, number(power_of_two(from, 16))),
                                number(kHalfInfinity), result);
  result = builder.CreateSelect(builder.CreateICmpUGT(magnitude, number(infinity)), nan, result);
  llvm::Value* narrow = builder.CreateTrunc(builder.CreateOr(result, sign), builder.getInt16Ty());
  builder.CreateRet(builder.CreateBitCast(narrow, builder.getHalfTy()));
}

}  // namespace

void ModuleEmitter::define_half_conversions() {
  // on other architectures LLVM passes float16 to its run-time library differently
  if (!llvm::Triple(target.triple).isX86() || target.has("avx512fp16")) return;
  const Uses uses = uses_of(module);
  const bool has_single = target.has("f16c");
  if (has_single ? !uses.double_to_half : !uses.half) return;
  llvm::LLVMContext& context = module.getContext();
  llvm::Type *half = llvm::Type::getHalfTy(context), *single = llvm::Type::getFloatTy(context),
             *wide = llvm::Type::getDoubleTy(context);
  struct Conversion {
    const char* name;
    llvm::Type *from, *to;
  };
  std::vector<llvm::GlobalValue*> used;
  for (const Conversion& each :
       {Conversion{"__extendhfsf2", half, single}, Conversion{"__truncsfhf2", single, half},
        Conversion{"__truncdfhf2", wide, half}}) {
    if (has_single && each.from != wide) continue;
    llvm::Function* function = helper(each.name, each.to, {each.from});
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", function));
    if (each.from == half)
      fill_extend(builder, function->getArg(0));
    else
      fill_truncate(builder, function->getArg(0), each.from == single ? kSingle : kDouble);
    used.push_back(function);
  }
  llvm::appendToCompilerUsed(module, used);  // calls appear only during machine code generation
}

}  // namespace tilewright::codegen
