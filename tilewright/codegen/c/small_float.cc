// float8, float16 and bfloat16 in C: integers of 8 or 16 bits, and conversions to and from float.
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

constexpr std::string_view kSubnormal = R"(  if (magnitude < {smallest_normal:#x}u) {{
    // the last place of this power of two is the smallest number: adding it rounds to that
    float sum;
    memcpy(&sum, &magnitude, sizeof sum);
    sum += {power}f;
    memcpy(&result, &sum, sizeof result);
    return ({T})(sign | (result - {power_bits:#x}u));
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
  if (magnitude >= {infinity:#x}) bits = {special};
  float result;
  if (magnitude < {first_normal:#x}) {{
    result = (float)magnitude * {smallest}f;
    memcpy(&bits, &result, sizeof bits);
  }}
  bits |= sign;
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

std::string filled(std::string_view text, DataType dtype) {
  const FloatFormat format = float_format(dtype);
  const int shift = 23 - format.mantissa_bits;
  const auto power_bits = [](int power) { return static_cast<uint32_t>(power + 127) << 23; };
  const int power = format.min_power() + 23;
  const bool has_subnormals = format.bias() != 127;
  const std::string special =
      format.has_infinity ? fmt::format("magnitude << {} | 0x7f800000u", shift) : "0x7fc00000u";
  const std::string subnormal = has_subnormals
                                    ? fmt::format(fmt::runtime(kSubnormal), fmt::arg("T", c_type(dtype)),
                                                  fmt::arg("smallest_normal", power_bits(1 - format.bias())),
                                                  fmt::arg("power", fmt::format("0x1p{}", power)),
                                                  fmt::arg("power_bits", power_bits(power)))
                                    : "";
  return fmt::format(fmt::runtime(text), fmt::arg("T", c_type(dtype)), fmt::arg("D", dtype.str()),
                     fmt::arg("sign", format.sign_bit()), fmt::arg("sign_shift", 32 - format.bits()),
                     fmt::arg("magnitude", format.sign_bit() - 1), fmt::arg("nan", format.nan_bits()),
                     fmt::arg("infinity", format.infinity_bits()), fmt::arg("shift", shift),
                     fmt::arg("half", (1u << (shift - 1)) - 1),
                     fmt::arg("rebias", static_cast<uint32_t>(127 - format.bias()) << 23),
                     fmt::arg("first_normal", 1u << format.mantissa_bits), fmt::arg("special", special),
                     fmt::arg("smallest", fmt::format("0x1p{}", format.min_power())),
                     fmt::arg("subnormal", subnormal));
}

}  // namespace

std::string CUnit::narrow_float(DataType from, DataType to) {
  headers.insert("string.h");
  const std::string of_single = fmt::format("tw_{}_of_float32", to.str());
  helpers.emplace(of_single, filled(kNarrow, to));
  if (from == kFloat32) return of_single;
  const std::string of_double = fmt::format("tw_{}_of_float64", to.str());
  helpers.emplace(of_double, filled(kNarrowDouble, to));
  return of_double;
}

std::string CUnit::widen_float(DataType from) {
  headers.insert("string.h");
  const std::string symbol = fmt::format("tw_float32_of_{}", from.str());
  helpers.emplace(symbol, from.is_bfloat16() ? std::string(kWidenBfloat16) : filled(kWiden, from));
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
