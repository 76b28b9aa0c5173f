// Floats of 4, 8 and 16 bits in C-like languages: their bits, and conversions to and from float.
#include <fmt/format.h>

#include "tilewright/codegen/source/helpers.h"
#include "tilewright/support/small_float.h"

namespace tilewright::codegen {
namespace {

// {T} the type of the bits, {D} the dtype
constexpr std::string_view kNarrow = R"(// the bits of the nearest {D}, ties to even
@function {T} tw_{D}_of_float32(float a) {{
  @uint32 bits, result;
  @bits(bits, a);
  const @uint32 sign = bits >> {sign_shift} & {sign:#x}u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return ({T})(sign | {nan:#x}u);
{subnormal}  result = (magnitude - {rebias:#x}u + {half:#x}u + (magnitude >> {shift} & 1)) >> {shift};
  return ({T})(sign | (result < {infinity:#x}u ? result : {infinity:#x}u));
}}
)";

// the bias is that of float; 2^-127 is a subnormal there, 0 has no bits and negative numbers neither
constexpr std::string_view kNarrowPower =
    R"(// the bits of the nearest power of two; NaN of what is not above 0
@function @uint8 tw_{D}_of_float32(float a) {{
  @uint32 bits;
  @bits(bits, a);
  if (bits == 0 || bits >= 0x7f800000u) return {nan:#x};
  if (bits < 0x800000u) return bits >= 0x600000u;
  return (@uint8)((bits + 0x400000u) >> 23);
}}
)";

constexpr std::string_view kSubnormal = R"(  if (magnitude < {smallest_normal:#x}u) {{
    // the last place of this power of two is the smallest number: adding it rounds to that
    float sum;
    @float(sum, magnitude);
    sum += {power}f;
    @bits(result, sum);
    result -= {power_bits:#x}u;
    return ({T})({signed_result});
  }}
)";

// Rounding to odd before rounding to nearest (Boldo and Melquiond 2008).
constexpr std::string_view kNarrowDouble = R"(// the same, rounded once
@function {T} tw_{D}_of_float64(double a) {{
  float nearest = (float)a;
  if ((double)nearest != a) {{
    @uint32 bits;
    @bits(bits, nearest);
    if (fabs((double)nearest) > fabs(a)) --bits;
    bits |= 1;
    @float(nearest, bits);
  }}
  return tw_{D}_of_float32(nearest);
}}
)";

constexpr std::string_view kWiden = R"(// the number with these bits
@function float tw_float32_of_{D}({T} a) {{
  const @uint32 sign = (@uint32)(a & {sign:#x}) << {sign_shift}, magnitude = a & {magnitude:#x};
  @uint32 bits = (magnitude << {shift}) + {rebias:#x}u;
{special}  float result;
  if (magnitude < {first_normal:#x}) {{
    result = (float)magnitude * {smallest}f;
    @bits(bits, result);
  }}
  bits |= sign;
  @float(result, bits);
  return result;
}}
)";

constexpr std::string_view kWidenPower = R"(// the number with these bits
@function float tw_float32_of_{D}(@uint8 a) {{
  const @uint32 bits = a == {nan:#x} ? 0x7fc00000u : a ? (@uint32)a << 23 : 0x400000u;
  float result;
  @float(result, bits);
  return result;
}}
)";

constexpr std::string_view kWidenBfloat16 = R"(// the number with these bits
@function float tw_float32_of_bfloat16(@uint16 a) {
  const @uint32 bits = (@uint32)a << 16;
  float result;
  @float(result, bits);
  return result;
}
)";

// What tells the bits that are no number in kWiden.
std::string special_text(FloatFormat format, int shift) {
  switch (format.special) {
    case SpecialBits::kNone: return "";
    case SpecialBits::kNanIsMinusZero:
      return fmt::format("  if (a == {:#x}) return NAN;\n", format.nan_bits());
    case SpecialBits::kInfinities:
      return fmt::format("  if (magnitude >= {:#x}) bits = magnitude << {} | 0x7f800000u;\n",
                         format.infinity_bits(), shift);
    default: return fmt::format("  if (magnitude >= {:#x}) bits = 0x7fc00000u;\n", format.infinity_bits());
  }
}

std::string filled(std::string_view text, DataType dtype, const Spelling& spelling) {
  const std::string bits = spelling.type(DataType::uint(register_bits(dtype)));
  const FloatFormat format = float_format(dtype);
  const int shift = 23 - format.mantissa_bits;
  const auto power_bits = [](int power) { return static_cast<uint32_t>(power + 127) << 23; };
  const int power = format.min_power() + 23;
  const bool has_subnormals = format.bias() != 127;
  // -0 is the NaN of some formats
  const char* signed_result =
      format.special == SpecialBits::kNanIsMinusZero ? "result ? sign | result : 0" : "sign | result";
  const std::string subnormal =
      has_subnormals
          ? fmt::format(fmt::runtime(kSubnormal), fmt::arg("T", bits),
                        fmt::arg("smallest_normal", power_bits(1 - format.bias())),
                        fmt::arg("power", fmt::format("0x1p{}", power)),
                        fmt::arg("power_bits", power_bits(power)), fmt::arg("signed_result", signed_result))
          : "";
  return fmt::format(
      fmt::runtime(text), fmt::arg("T", bits), fmt::arg("D", dtype.str()),
      fmt::arg("sign", format.sign_bit()), fmt::arg("sign_shift", 32 - format.bits()),
      fmt::arg("magnitude", format.magnitude_bits()), fmt::arg("nan", format.nan_bits()),
      fmt::arg("infinity", format.infinity_bits()), fmt::arg("shift", shift),
      fmt::arg("half", (1u << (shift - 1)) - 1),
      fmt::arg("rebias", static_cast<uint32_t>(127 - format.bias()) << 23),
      fmt::arg("first_normal", 1u << format.mantissa_bits), fmt::arg("special", special_text(format, shift)),
      fmt::arg("smallest", fmt::format("0x1p{}", format.min_power())), fmt::arg("subnormal", subnormal));
}

}  // namespace

std::string narrow_text(DataType dtype, const Spelling& spelling) {
  return spelled(filled(float_format(dtype).is_powers() ? kNarrowPower : kNarrow, dtype, spelling), spelling);
}

std::string narrow_double_text(DataType dtype, const Spelling& spelling) {
  return spelled(filled(kNarrowDouble, dtype, spelling), spelling);
}

std::string widen_text(DataType dtype, const Spelling& spelling) {
  if (dtype.is_bfloat16()) return spelled(kWidenBfloat16, spelling);
  return spelled(filled(float_format(dtype).is_powers() ? kWidenPower : kWiden, dtype, spelling), spelling);
}

}  // namespace tilewright::codegen
