// Helper functions for operations that operators of C-like languages do not provide: wrapping, rounding down,
// NaN.
#include "tilewright/codegen/source/helpers.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilewright::codegen {
namespace {

struct Helper {
  std::string_view name;
  enum Of { kSigned, kUnsigned, kFloat, kAny } of;
  // {S} what stands before functions, {T} the type, {U} its unsigned form for arithmetic, {D} the dtype, {B} its
  // number of bits, {F} "f" for functions of float32, {I} the type of int32
  std::string_view text;
};

constexpr Helper kHelpers[] = {
    {"add", Helper::kAny,
     "// wraps around\n{S} {T} tw_add_{D}({T} a, {T} b) {{ return ({T})(({U})a + ({U})b); }}\n"},
    {"sub", Helper::kAny,
     "// wraps around\n{S} {T} tw_sub_{D}({T} a, {T} b) {{ return ({T})(({U})a - ({U})b); }}\n"},
    {"mul", Helper::kAny,
     "// wraps around\n{S} {T} tw_mul_{D}({T} a, {T} b) {{ return ({T})(({U})a * ({U})b); }}\n"},
    {"min", Helper::kFloat, R"(// NaN if one is
{S} {T} tw_min_{D}({T} a, {T} b) {{
  const {T} chosen = a < b ? a : b;
  return isnan(a) ? a : chosen;
}}
)"},
    {"max", Helper::kFloat, R"(// NaN if one is
{S} {T} tw_max_{D}({T} a, {T} b) {{
  const {T} chosen = a > b ? a : b;
  return isnan(a) ? a : chosen;
}}
)"},
    {"min", Helper::kAny, "{S} {T} tw_min_{D}({T} a, {T} b) {{ return a < b ? a : b; }}\n"},
    {"max", Helper::kAny, "{S} {T} tw_max_{D}({T} a, {T} b) {{ return a > b ? a : b; }}\n"},
    {"div", Helper::kSigned, R"(// x / 0 is 0
{S} {T} tw_div_{D}({T} a, {T} b) {{
  if (b == 0) return 0;
  return b == -1 ? ({T})(0 - ({U})a) : ({T})(a / b);
}}
)"},
    {"mod", Helper::kSigned, R"(// x % 0 is 0
{S} {T} tw_mod_{D}({T} a, {T} b) {{ return b == 0 || b == -1 ? 0 : ({T})(a % b); }}
)"},
    {"floordiv", Helper::kSigned, R"(// rounds down; x / 0 is 0
{S} {T} tw_floordiv_{D}({T} a, {T} b) {{
  if (b == 0) return 0;
  if (b == -1) return ({T})(0 - ({U})a);
  return ({T})(a / b - (a % b != 0 && (a < 0) != (b < 0)));
}}
)"},
    {"floormod", Helper::kSigned, R"(// has the sign of b; x % 0 is 0
{S} {T} tw_floormod_{D}({T} a, {T} b) {{
  if (b == 0 || b == -1) return 0;
  return ({T})(a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0));
}}
)"},
    {"div", Helper::kUnsigned,
     "// x / 0 is 0\n{S} {T} tw_div_{D}({T} a, {T} b) {{ return b == 0 ? 0 : ({T})(a / b); }}\n"},
    {"mod", Helper::kUnsigned,
     "// x % 0 is 0\n{S} {T} tw_mod_{D}({T} a, {T} b) {{ return b == 0 ? 0 : ({T})(a % b); }}\n"},
    {"floordiv", Helper::kUnsigned,
     "// x / 0 is 0\n{S} {T} tw_floordiv_{D}({T} a, {T} b) {{ return b == 0 ? 0 : ({T})(a / b); "
     "}}\n"},
    {"floormod", Helper::kUnsigned,
     "// x % 0 is 0\n{S} {T} tw_floormod_{D}({T} a, {T} b) {{ return b == 0 ? 0 : ({T})(a % b); "
     "}}\n"},
    {"mod", Helper::kFloat, "{S} {T} tw_mod_{D}({T} a, {T} b) {{ return fmod{F}(a, b); }}\n"},
    {"floordiv", Helper::kFloat, "{S} {T} tw_floordiv_{D}({T} a, {T} b) {{ return floor{F}(a / b); }}\n"},
    {"floormod", Helper::kFloat,
     R"(// has the sign of b
{S} {T} tw_floormod_{D}({T} a, {T} b) {{
  {T} rest = fmod{F}(a, b);
  if (rest == 0) return copysign{F}(0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}}
)"},
    {"pow", Helper::kSigned, R"(// wraps around; rounded towards 0 if b is negative
{S} {T} tw_pow_{D}({T} a, {T} b) {{
  if (b < 0 && a != 1 && a != -1) return 0;
  {U} result = 1, factor = ({U})a;
  for ({U} rest = ({U})(b < 0 ? b & 1 : b); rest != 0; rest >>= 1, factor *= factor) {{
    if (rest & 1) result *= factor;
  }}
  return ({T})result;
}}
)"},
    {"pow", Helper::kUnsigned, R"(// wraps around
{S} {T} tw_pow_{D}({T} a, {T} b) {{
  {U} result = 1, factor = a;
  for ({U} rest = b; rest != 0; rest >>= 1, factor *= factor) {{
    if (rest & 1) result *= factor;
  }}
  return ({T})result;
}}
)"},
    {"abs", Helper::kSigned, "{S} {T} tw_abs_{D}({T} a) {{ return a < 0 ? ({T})(0 - ({U})a) : a; }}\n"},
    {"shift_left", Helper::kAny, R"(// 0 for counts of {B} and more
{S} {T} tw_shift_left_{D}({T} a, {T} b) {{ return ({U})b < {B} ? ({T})(({U})a << b) : 0; }}
)"},
    {"shift_right", Helper::kSigned, R"(// all sign bits for counts of {B} and more
{S} {T} tw_shift_right_{D}({T} a, {T} b) {{ return ({T})(a >> (({U})b < {B} ? b : {B} - 1)); }}
)"},
    {"shift_right", Helper::kUnsigned, R"(// 0 for counts of {B} and more
{S} {T} tw_shift_right_{D}({T} a, {T} b) {{ return b < {B} ? ({T})(a >> b) : 0; }}
)"},
    {"popcount", Helper::kAny, R"(// one bits
{S} {T} tw_popcount_{D}({T} a) {{
  {T} count = 0;
  for (int bit = 0; bit < {B}; ++bit) count = ({T})(count + (({U})a >> bit & 1));
  return count;
}}
)"},
    {"clz", Helper::kAny, R"(// zero bits above the highest one
{S} {I} tw_clz_{D}({T} a) {{
  {I} count = 0;
  while (count < {B} && (({U})a >> ({B} - 1 - count) & 1) == 0) ++count;
  return count;
}}
)"},
    {"rsqrt", Helper::kFloat, "{S} {T} tw_rsqrt_{D}({T} a) {{ return 1 / sqrt{F}(a); }}\n"},
    {"sigmoid", Helper::kFloat, "{S} {T} tw_sigmoid_{D}({T} a) {{ return 1 / (1 + exp{F}(-a)); }}\n"},
    {"exp10", Helper::kFloat, "{S} {T} tw_exp10_{D}({T} a) {{ return pow{F}(10, a); }}\n"},
};

bool applies(const Helper& helper, DataType dtype) {
  if (helper.of == Helper::kAny) return !dtype.is_float();
  if (helper.of == Helper::kFloat) return dtype.is_float();
  return helper.of == Helper::kSigned ? dtype.is_int() : dtype.is_uint() || dtype.is_bool();
}

}  // namespace

std::string helper_text(std::string_view name, DataType dtype, const Spelling& spelling) {
  for (const Helper& helper : kHelpers) {
    if (helper.name != name || !applies(helper, dtype)) continue;
    // Shifts and bit counts need the exact width of the type.  Arithmetic on narrow types is done in int, in
    // which a product of two uint16_t may overflow.
    const bool is_exact = name.starts_with("shift") || name == "popcount" || name == "clz";
    const int bits = is_exact ? dtype.bits : std::max<int>(dtype.bits, 32);
    const std::string wide = dtype.is_float() ? "" : spelling.type(DataType::uint(bits));
    const bool has_suffix = spelling.has_float_functions && dtype == kFloat32;
    return fmt::format(fmt::runtime(helper.text), fmt::arg("S", spelling.function),
                       fmt::arg("T", spelling.type(dtype)), fmt::arg("U", wide), fmt::arg("D", dtype.str()),
                       fmt::arg("B", dtype.bits), fmt::arg("F", has_suffix ? "f" : ""),
                       fmt::arg("I", spelling.type(kInt32)));
  }
  return "";
}

std::string spelled(std::string_view text, const Spelling& spelling) {
  std::string result;
  const auto word = [&](std::string_view token, std::string_view value) {
    if (!text.starts_with(token)) return false;
    result += value;
    text.remove_prefix(token.size());
    return true;
  };
  const auto copy = [&](std::string_view token, std::string_view form) {
    if (!text.starts_with(token)) return false;
    const size_t comma = text.find(", "), end = text.find(')');
    result += fmt::format(fmt::runtime(form), text.substr(token.size(), comma - token.size()),
                          text.substr(comma + 2, end - comma - 2));
    text.remove_prefix(end + 1);
    return true;
  };
  while (!text.empty()) {
    if (word("@function", spelling.function) || word("@uint32", spelling.type(DataType::uint(32))) ||
        word("@int32", spelling.type(kInt32)) || word("@uint8", spelling.type(DataType::uint(8))) ||
        word("@uint16", spelling.type(DataType::uint(16))) || copy("@bits(", spelling.take_bits) ||
        copy("@float(", spelling.take_float) || word("@f", spelling.has_float_functions ? "f" : ""))
      continue;
    result += text[0];
    text.remove_prefix(1);
  }
  return result;
}

}  // namespace tilewright::codegen
