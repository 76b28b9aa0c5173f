// Conversions between the bits of bfloat16 and floats of 4 and 8 bits and float32, with the same operations on
// scalars and vectors.
#include "tilewright/support/small_float.h"

#include <llvm/Analysis/VectorUtils.h>

#include <limits>
#include <numeric>

#include "tilewright/codegen/llvm/math.h"
#include "tilewright/ir/services.h"

namespace tilewright::codegen {
namespace {

constexpr int kSingleMantissa = 23, kSingleBias = 127;
constexpr uint32_t kMagnitude = 0x7fffffff, kInfinity = 0x7f800000, kNan = 0x7fc00000;

// The bits of 2^power in float32.
constexpr uint32_t power_of_two(int power) {
  return static_cast<uint32_t>(power + kSingleBias) << kSingleMantissa;
}

/// Instructions on 32-bit words and the float32 values with the same bits.
class Words {
 public:
  Words(llvm::IRBuilder<>& builder, llvm::Type* like)
      : b(builder),
        word(like->getWithNewType(builder.getInt32Ty())),
        single(like->getWithNewType(builder.getFloatTy())) {}
  llvm::Value* c(uint32_t value) const { return llvm::ConstantInt::get(word, value); }
  llvm::Value* bits(llvm::Value* number) const { return b.CreateBitCast(number, word); }
  llvm::Value* number(llvm::Value* bits) const { return b.CreateBitCast(bits, single); }

  llvm::IRBuilder<>& b;
  llvm::Type *word, *single;
};

// float64 as a float32 whose last bit is set if it is inexact; rounding that again gives the same result as
// rounding once (Boldo and Melquiond 2008).
llvm::Value* round_to_odd(const Words& w, llvm::Value* value) {
  llvm::Value* nearest = w.b.CreateFPTrunc(value, w.single);
  llvm::Value* back = w.b.CreateFPExt(nearest, value->getType());
  auto magnitude = [&](llvm::Value* x) { return w.b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); };
  llvm::Value* is_above = w.b.CreateFCmpOGT(magnitude(back), magnitude(value));
  llvm::Value* is_inexact = w.b.CreateFCmpUNE(back, value);
  llvm::Value* below = w.b.CreateSub(w.bits(nearest), w.b.CreateZExt(is_above, w.word));
  return w.b.CreateOr(below, w.b.CreateZExt(is_inexact, w.word));
}

// The bits of the nearest value of `format`, ties to even.
llvm::Value* narrowed(const Words& w, llvm::Value* bits, FloatFormat format) {
  const auto shift = static_cast<unsigned>(kSingleMantissa - format.mantissa_bits);
  const uint32_t rebias = static_cast<uint32_t>(kSingleBias - format.bias()) << kSingleMantissa;
  llvm::Value* magnitude = w.b.CreateAnd(bits, w.c(kMagnitude));
  llvm::Value* sign =
      w.b.CreateAnd(w.b.CreateLShr(bits, static_cast<uint64_t>(32 - format.bits())), w.c(format.sign_bit()));
  // adding almost half of the last place, and one more if that place is odd, carries exactly where rounding
  // goes up
  llvm::Value* odd = w.b.CreateAnd(w.b.CreateLShr(magnitude, shift), w.c(1));
  llvm::Value* half = w.b.CreateAdd(odd, w.c((1u << (shift - 1)) - 1));
  llvm::Value* result =
      w.b.CreateLShr(w.b.CreateAdd(w.b.CreateSub(magnitude, w.c(rebias)), half), uint64_t{shift});
  llvm::Value* too_large = w.b.CreateICmpUGT(result, w.c(format.infinity_bits()));
  result = w.b.CreateSelect(too_large, w.c(format.infinity_bits()), result);
  if (rebias != 0) {
    // the last place of this power is the smallest value of the format, so adding the power rounds to its
    // multiples
    const uint32_t power = power_of_two(format.min_power() + kSingleMantissa);
    llvm::Value* sum = w.b.CreateFAdd(w.number(magnitude), w.number(w.c(power)));
    llvm::Value* subnormal = w.b.CreateSub(w.bits(sum), w.c(power));
    llvm::Value* is_small = w.b.CreateICmpULT(magnitude, w.c(power_of_two(1 - format.bias())));
    result = w.b.CreateSelect(is_small, subnormal, result);
  }
  if (format.special == SpecialBits::kNanIsMinusZero)
    sign = w.b.CreateSelect(w.b.CreateICmpEQ(result, w.c(0)), w.c(0), sign);
  llvm::Value* is_nan = w.b.CreateICmpUGT(magnitude, w.c(kInfinity));
  return w.b.CreateOr(w.b.CreateSelect(is_nan, w.c(format.nan_bits()), result), sign);
}

// The exponent of the nearest power of two, which has the bias of float32; that of 2^-127 is 0, where float32
// has subnormals, of which those from 3 * 2^-128 on are nearer to 2^-126.
llvm::Value* nearest_power(const Words& w, llvm::Value* bits, FloatFormat format) {
  constexpr uint32_t kHalf = 1u << (kSingleMantissa - 1);
  llvm::Value* rounded = w.b.CreateLShr(w.b.CreateAdd(bits, w.c(kHalf)), uint64_t{kSingleMantissa});
  llvm::Value* is_subnormal = w.b.CreateICmpULT(bits, w.c(1u << kSingleMantissa));
  llvm::Value* is_upper = w.b.CreateZExt(w.b.CreateICmpUGE(bits, w.c(kHalf + kHalf / 2)), w.word);
  llvm::Value* result = w.b.CreateSelect(is_subnormal, is_upper, rounded);
  // 0 less 1 is beyond infinity, as negative numbers and NaN are
  llvm::Value* is_number = w.b.CreateICmpULT(w.b.CreateSub(bits, w.c(1)), w.c(kInfinity - 1));
  return w.b.CreateSelect(is_number, result, w.c(format.nan_bits()));
}

// The same for bfloat16, which has the sign and the exponents of float32: carries end at infinity.
llvm::Value* rounded_to_upper_half(const Words& w, llvm::Value* bits, FloatFormat format) {
  llvm::Value* upper = w.b.CreateLShr(bits, uint64_t{16});
  llvm::Value* odd = w.b.CreateAnd(upper, w.c(1));
  llvm::Value* sum = w.b.CreateAdd(w.b.CreateAdd(bits, w.c(0x7fff)), odd);
  llvm::Value* nan = w.b.CreateOr(w.b.CreateAnd(upper, w.c(format.sign_bit())), w.c(format.nan_bits()));
  llvm::Value* number = w.number(bits);
  return w.b.CreateSelect(w.b.CreateFCmpUNO(number, number), nan, w.b.CreateLShr(sum, uint64_t{16}));
}

bool is_number(const PrimExpr& value, double number) {
  const FloatImmNode* found = number_of(value);
  return found && found->value == number;
}

// x of select(abs(x) < 2^-126, x * 0, x); null if `value` has another form.
const PrimExpr* flushed(const PrimExpr& value) {
  const auto* chosen = value.as<SelectNode>();
  const auto* is_less = chosen ? chosen->condition.as<LTNode>() : nullptr;
  const auto* magnitude = is_less ? is_less->a.as<CallNode>() : nullptr;
  const auto* op = magnitude ? magnitude->op.as<OpNode>() : nullptr;
  const auto* zero = chosen ? chosen->true_value.as<MulNode>() : nullptr;
  if (!op || op->name != "tir.abs" || !zero || !is_number(zero->b, 0) ||
      !is_number(is_less->b, std::numeric_limits<float>::min()) ||
      !structural_equal(magnitude->args[0], chosen->false_value) ||
      !structural_equal(zero->a, chosen->false_value))
    return nullptr;
  return &chosen->false_value;
}

// float32 with the power of two of these bits.
llvm::Value* widened_power(const Words& w, llvm::Value* bits, FloatFormat format) {
  llvm::Value* result = w.b.CreateShl(bits, uint64_t{kSingleMantissa});
  llvm::Value* is_smallest = w.b.CreateICmpEQ(bits, w.c(0));
  result = w.b.CreateSelect(is_smallest, w.c(1u << (kSingleMantissa - 1)), result);  // 2^-127, subnormal
  llvm::Value* is_nan = w.b.CreateICmpEQ(bits, w.c(format.nan_bits()));
  return w.number(w.b.CreateSelect(is_nan, w.c(kNan), result));
}

// `result`, the bits of a float32 without sign, or what those bits that are no number stand for.
llvm::Value* with_special(const Words& w, llvm::Value* bits, llvm::Value* magnitude, llvm::Value* result,
                          FloatFormat format) {
  llvm::Value *is_special, *special = w.c(kNan);
  switch (format.special) {
    case SpecialBits::kNone: return result;
    case SpecialBits::kNanIsMinusZero: is_special = w.b.CreateICmpEQ(bits, w.c(format.nan_bits())); break;
    case SpecialBits::kInfinities:
      special = w.b.CreateOr(
          w.b.CreateShl(magnitude, static_cast<uint64_t>(kSingleMantissa - format.mantissa_bits)),
          w.c(kInfinity));
      [[fallthrough]];
    default: is_special = w.b.CreateICmpUGE(magnitude, w.c(format.infinity_bits())); break;
  }
  return w.b.CreateSelect(is_special, special, result);
}

// float32 with the value of these bits.
llvm::Value* widened(const Words& w, llvm::Value* bits, FloatFormat format) {
  if (format.is_powers()) return widened_power(w, bits, format);
  const auto shift = static_cast<uint64_t>(kSingleMantissa - format.mantissa_bits);
  const uint32_t rebias = static_cast<uint32_t>(kSingleBias - format.bias()) << kSingleMantissa;
  if (rebias == 0) return w.number(w.b.CreateShl(bits, shift));
  llvm::Value* sign =
      w.b.CreateShl(w.b.CreateAnd(bits, w.c(format.sign_bit())), static_cast<uint64_t>(32 - format.bits()));
  llvm::Value* magnitude = w.b.CreateAnd(bits, w.c(format.magnitude_bits()));
  llvm::Value* result = w.b.CreateAdd(w.b.CreateShl(magnitude, shift), w.c(rebias));
  llvm::Value* smallest = w.number(w.c(power_of_two(format.min_power())));
  llvm::Value* subnormal = w.bits(w.b.CreateFMul(w.b.CreateUIToFP(magnitude, w.single), smallest));
  llvm::Value* is_small = w.b.CreateICmpULT(magnitude, w.c(1u << format.mantissa_bits));
  result = w.b.CreateSelect(is_small, subnormal, result);
  return w.number(w.b.CreateOr(with_special(w, bits, magnitude, result, format), sign));
}

}  // namespace

llvm::Value* FunctionEmitter::widen_float(llvm::Value* bits, DataType from) {
  const Words words(builder_, bits->getType());
  return widened(words, builder_.CreateZExt(bits, words.word), float_format(from));
}

llvm::Value* FunctionEmitter::narrow_float(llvm::Value* value, DataType from, DataType to) {
  const bool is_exact_in_single =
      is_small_float(from) || from.is_bool() || (from.is_integral() && from.bits <= 16);
  const DataType wide = from.element() == kFloat32 || is_exact_in_single ? kFloat32 : DataType::float_(64);
  value = emit_cast(from, wide.with_lanes(from.lanes), value);
  const Words words(builder_, value->getType());
  llvm::Value* bits = wide == kFloat32 ? words.bits(value) : round_to_odd(words, value);
  const FloatFormat format = float_format(to);
  llvm::Value* narrow = to.is_bfloat16()     ? rounded_to_upper_half(words, bits, format)
                        : format.is_powers() ? nearest_power(words, bits, format)
                                             : narrowed(words, bits, format);
  return builder_.CreateTrunc(narrow, llvm_type(context_, to));
}

// vcvtne2ps2bf16 flushes denormals to 0, whatever the mode of the processor.  Source: Intel 64 and IA-32
// Architectures Software Developer's Manual, volume 2, VCVTNE2PS2BF16.
llvm::Value* FunctionEmitter::emit_flushed_bfloat16(const CastNode* cast) {
  constexpr int kLanes = 32;  // lanes of one instruction
  const int lanes = cast->dtype.lanes;
  if (!cast->dtype.is_bfloat16() || cast->value->dtype.element() != kFloat32 || lanes % kLanes != 0 ||
      !module_.target.has("avx512bf16"))
    return nullptr;
  const PrimExpr* value = flushed(cast->value);
  if (!value) return nullptr;
  llvm::Value *numbers = emit(*value), *result = nullptr;
  const auto half = [&](int begin) {
    std::vector<int> chosen(kLanes / 2);
    std::iota(chosen.begin(), chosen.end(), begin);
    return builder_.CreateShuffleVector(numbers, chosen);
  };
  for (int begin = 0; begin < lanes; begin += kLanes) {
    llvm::Value* narrow = builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_cvtne2ps2bf16_512, {},
                                                   {half(begin + kLanes / 2), half(begin)});
    narrow = builder_.CreateBitCast(narrow, llvm_type(context_, cast->dtype.with_lanes(kLanes)));
    result = result ? llvm::concatenateVectors(builder_, {result, narrow}) : narrow;
  }
  return result;
}

}  // namespace tilewright::codegen
