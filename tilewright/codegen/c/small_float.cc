// Floats of 4, 8 and 16 bits in C: integers of 8 or 16 bits, and conversions to and from float.
#include "tilewright/support/small_float.h"

#include "tilewright/codegen/c/printer.h"
#include "tilewright/support/format.h"

namespace tilewright::codegen {
namespace {

// {T} the type of the bits, {D} the dtype
constexpr std::string_view kNarrow = R"(// the bits of the nearest {D}, ties to even
static inline {T} tw_{D}_of_float32(float a) {{
  uint32_t bits, result;
  memcpy(&bits, &a, sizeof bits);
  const uint32_t sign = bits >> {sign_shift} & {sign:#x}u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return ({T})(sign | {nan:#x}u);
{subnormal}  result = (magnitude - {rebias:#x}u + {half:#x}u + (magnitude >> {shift} & 1)) >> {shift};
  return ({T})(sign | (result < {infinity:#x}u ? result : {infinity:#x}u));
}}
)";

// the bias is that of float; 2^-127 is a subnormal there, 0 has no bits and negative numbers neither
constexpr std::string_view kNarrowPower =
    R"(// the bits of the nearest power of two; NaN of what is not above 0
static inline uint8_t tw_{D}_of_float32(float a) {{
  uint32_t bits;
  memcpy(&bits, &a, sizeof bits);
  if (bits == 0 || bits >= 0x7f800000u) return {nan:#x};
  if (bits < 0x800000u) return bits >= 0x600000u;
  return (uint8_t)((bits + 0x400000u) >> 23);
}}
)";

constexpr std::string_view kSubnormal = R"(  if (magnitude < {smallest_normal:#x}u) {{
    // the last place of this power of two is the smallest number: adding it rounds to that
    float sum;
    memcpy(&sum, &magnitude, sizeof sum);
    sum += {power}f;
    memcpy(&result, &sum, sizeof result);
    result -= {power_bits:#x}u;
    return ({T})({signed_result});
  }}
)";

// Rounding to odd before rounding to nearest (Boldo and Melquiond 2008).
constexpr std::string_view kNarrowDouble = R"(// the same, rounded once
static inline {T} tw_{D}_of_float64(double a) {{
  float nearest = (float)a;
  if ((double)nearest != a) {{
    uint32_t bits;
    memcpy(&bits, &nearest, sizeof bits);
    if (fabs((double)nearest) > fabs(a)) --bits;
    bits |= 1;
    memcpy(&nearest, &bits, sizeof bits);
  }}
  return tw_{D}_of_float32(nearest);
}}
)";

constexpr std::string_view kWiden = R"(// the number with these bits
static inline float tw_float32_of_{D}({T} a) {{
  const uint32_t sign = (uint32_t)(a & {sign:#x}) << {sign_shift}, magnitude = a & {magnitude:#x};
  uint32_t bits = (magnitude << {shift}) + {rebias:#x}u;
{special}  float result;
  if (magnitude < {first_normal:#x}) {{
    result = (float)magnitude * {smallest}f;
    memcpy(&bits, &result, sizeof bits);
  }}
  bits |= sign;
  memcpy(&result, &bits, sizeof result);
  return result;
}}
)";

constexpr std::string_view kWidenPower = R"(// the number with these bits
static inline float tw_float32_of_{D}(uint8_t a) {{
  const uint32_t bits = a == {nan:#x} ? 0x7fc00000u : a ? (uint32_t)a << 23 : 0x400000u;
  float result;
  memcpy(&result, &bits, sizeof result);
  return result;
}}
)";

constexpr std::string_view kWidenBfloat16 = R"(// the number with these bits
static inline float tw_float32_of_bfloat16(uint16_t a) {
  const uint32_t bits = (uint32_t)a << 16;
  float result;
  memcpy(&result, &bits, sizeof result);
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

std::string filled(std::string_view text, DataType dtype) {
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
          ? fmt::format(fmt::runtime(kSubnormal), fmt::arg("T", c_type(dtype)),
                        fmt::arg("smallest_normal", power_bits(1 - format.bias())),
                        fmt::arg("power", fmt::format("0x1p{}", power)),
                        fmt::arg("power_bits", power_bits(power)), fmt::arg("signed_result", signed_result))
          : "";
  return fmt::format(
      fmt::runtime(text), fmt::arg("T", c_type(dtype)), fmt::arg("D", dtype.str()),
      fmt::arg("sign", format.sign_bit()), fmt::arg("sign_shift", 32 - format.bits()),
      fmt::arg("magnitude", format.magnitude_bits()), fmt::arg("nan", format.nan_bits()),
      fmt::arg("infinity", format.infinity_bits()), fmt::arg("shift", shift),
      fmt::arg("half", (1u << (shift - 1)) - 1),
      fmt::arg("rebias", static_cast<uint32_t>(127 - format.bias()) << 23),
      fmt::arg("first_normal", 1u << format.mantissa_bits), fmt::arg("special", special_text(format, shift)),
      fmt::arg("smallest", fmt::format("0x1p{}", format.min_power())), fmt::arg("subnormal", subnormal));
}

}  // namespace

std::string CUnit::narrow_float(DataType from, DataType to) {
  headers.insert("string.h");
  const std::string of_single = fmt::format("tw_{}_of_float32", to.str());
  helpers.emplace(of_single, filled(float_format(to).is_powers() ? kNarrowPower : kNarrow, to));
  if (from == kFloat32) return of_single;
  const std::string of_double = fmt::format("tw_{}_of_float64", to.str());
  helpers.emplace(of_double, filled(kNarrowDouble, to));
  return of_double;
}

std::string CUnit::widen_float(DataType from) {
  const FloatFormat format = float_format(from);
  headers.insert("string.h");
  if (format.special == SpecialBits::kNanIsMinusZero) headers.insert("math.h");
  const std::string symbol = fmt::format("tw_float32_of_{}", from.str());
  helpers.emplace(symbol, from.is_bfloat16() ? std::string(kWidenBfloat16)
                                             : filled(format.is_powers() ? kWidenPower : kWiden, from));
  return symbol;
}

Code CPrinter::cast(const CastNode* node) {
  const DataType from = node->value->dtype, to = node->dtype;
  if (from == to || !(is_small_float(from) || is_small_float(to))) return SourcePrinter::cast(node);
  if (is_small_float(from)) {
    const Code single{fmt::format("{}({})", unit_.widen_float(from), text(node->value))};
    if (is_small_float(to)) return {fmt::format("{}({})", unit_.narrow_float(kFloat32, to), single.text)};
    return to == kFloat32 ? single : cast_of(single, kFloat32, to);
  }
  const bool is_exact_in_single = from.is_bool() || (from.is_integral() && from.bits <= 16);
  const DataType wide = from == kFloat32 || is_exact_in_single ? kFloat32 : DataType::float_(64);
  const Code value = expr(node->value);
  return {fmt::format("{}({})", unit_.narrow_float(wide, to),
                      (from == wide ? value : cast_of(value, from, wide)).text)};
}

}  // namespace tilewright::codegen
