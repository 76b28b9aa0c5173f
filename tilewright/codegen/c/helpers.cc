// Helper functions for printed C, for operations that C's operators do not provide: wrapping, rounding down,
// NaN.
#include <fmt/format.h>

#include <cctype>

#include "tilewright/codegen/c/printer.h"
#include "tilewright/codegen/source/dtype_texts.h"
#include "tilewright/support/error.h"

namespace tilewright::codegen {
namespace {

struct Helper {
  std::string_view name;
  enum Of { kSigned, kUnsigned, kFloat, kAny } of;
  // {T} the type, {U} its unsigned form for arithmetic, {D} the dtype, {B} its number of bits, {F} "f" for
  // float32
  std::string_view text;
};

constexpr Helper kHelpers[] = {
    {"add", Helper::kAny,
     "// wraps around\nstatic inline {T} tw_add_{D}({T} a, {T} b) {{ return ({T})(({U})a + ({U})b); }}\n"},
    {"sub", Helper::kAny,
     "// wraps around\nstatic inline {T} tw_sub_{D}({T} a, {T} b) {{ return ({T})(({U})a - ({U})b); }}\n"},
    {"mul", Helper::kAny,
     "// wraps around\nstatic inline {T} tw_mul_{D}({T} a, {T} b) {{ return ({T})(({U})a * ({U})b); }}\n"},
    {"min", Helper::kFloat, R"(// NaN if one is
static inline {T} tw_min_{D}({T} a, {T} b) {{
  const {T} chosen = a < b ? a : b;
  return isnan(a) ? a : chosen;
}}
)"},
    {"max", Helper::kFloat, R"(// NaN if one is
static inline {T} tw_max_{D}({T} a, {T} b) {{
  const {T} chosen = a > b ? a : b;
  return isnan(a) ? a : chosen;
}}
)"},
    {"min", Helper::kAny, "static inline {T} tw_min_{D}({T} a, {T} b) {{ return a < b ? a : b; }}\n"},
    {"max", Helper::kAny, "static inline {T} tw_max_{D}({T} a, {T} b) {{ return a > b ? a : b; }}\n"},
    {"div", Helper::kSigned, R"(// x / 0 is 0
static inline {T} tw_div_{D}({T} a, {T} b) {{
  if (b == 0) return 0;
  return b == -1 ? ({T})(0 - ({U})a) : ({T})(a / b);
}}
)"},
    {"mod", Helper::kSigned, R"(// x % 0 is 0
static inline {T} tw_mod_{D}({T} a, {T} b) {{ return b == 0 || b == -1 ? 0 : ({T})(a % b); }}
)"},
    {"floordiv", Helper::kSigned, R"(// rounds down; x / 0 is 0
static inline {T} tw_floordiv_{D}({T} a, {T} b) {{
  if (b == 0) return 0;
  if (b == -1) return ({T})(0 - ({U})a);
  return ({T})(a / b - (a % b != 0 && (a < 0) != (b < 0)));
}}
)"},
    {"floormod", Helper::kSigned, R"(// has the sign of b; x % 0 is 0
static inline {T} tw_floormod_{D}({T} a, {T} b) {{
  if (b == 0 || b == -1) return 0;
  return ({T})(a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0));
}}
)"},
    {"div", Helper::kUnsigned,
     "// x / 0 is 0\nstatic inline {T} tw_div_{D}({T} a, {T} b) {{ return b == 0 ? 0 : ({T})(a / b); }}\n"},
    {"mod", Helper::kUnsigned,
     "// x % 0 is 0\nstatic inline {T} tw_mod_{D}({T} a, {T} b) {{ return b == 0 ? 0 : ({T})(a % b); }}\n"},
    {"floordiv", Helper::kUnsigned,
     "// x / 0 is 0\nstatic inline {T} tw_floordiv_{D}({T} a, {T} b) {{ return b == 0 ? 0 : ({T})(a / b); "
     "}}\n"},
    {"floormod", Helper::kUnsigned,
     "// x % 0 is 0\nstatic inline {T} tw_floormod_{D}({T} a, {T} b) {{ return b == 0 ? 0 : ({T})(a % b); "
     "}}\n"},
    {"mod", Helper::kFloat, "static inline {T} tw_mod_{D}({T} a, {T} b) {{ return fmod{F}(a, b); }}\n"},
    {"floordiv", Helper::kFloat,
     "static inline {T} tw_floordiv_{D}({T} a, {T} b) {{ return floor{F}(a / b); }}\n"},
    {"floormod", Helper::kFloat,
     R"(// has the sign of b
static inline {T} tw_floormod_{D}({T} a, {T} b) {{
  {T} rest = fmod{F}(a, b);
  if (rest == 0) return copysign{F}(0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}}
)"},
    {"pow", Helper::kSigned, R"(// wraps around; rounded towards 0 if b is negative
static inline {T} tw_pow_{D}({T} a, {T} b) {{
  if (b < 0 && a != 1 && a != -1) return 0;
  {U} result = 1, factor = ({U})a;
  for ({U} rest = ({U})(b < 0 ? b & 1 : b); rest != 0; rest >>= 1, factor *= factor) {{
    if (rest & 1) result *= factor;
  }}
  return ({T})result;
}}
)"},
    {"pow", Helper::kUnsigned, R"(// wraps around
static inline {T} tw_pow_{D}({T} a, {T} b) {{
  {U} result = 1, factor = a;
  for ({U} rest = b; rest != 0; rest >>= 1, factor *= factor) {{
    if (rest & 1) result *= factor;
  }}
  return ({T})result;
}}
)"},
    {"abs", Helper::kSigned,
     "static inline {T} tw_abs_{D}({T} a) {{ return a < 0 ? ({T})(0 - ({U})a) : a; }}\n"},
    {"shift_left", Helper::kAny, R"(// 0 for counts of {B} and more
static inline {T} tw_shift_left_{D}({T} a, {T} b) {{ return ({U})b < {B} ? ({T})(({U})a << b) : 0; }}
)"},
    {"shift_right", Helper::kSigned, R"(// all sign bits for counts of {B} and more
static inline {T} tw_shift_right_{D}({T} a, {T} b) {{ return ({T})(a >> (({U})b < {B} ? b : {B} - 1)); }}
)"},
    {"shift_right", Helper::kUnsigned, R"(// 0 for counts of {B} and more
static inline {T} tw_shift_right_{D}({T} a, {T} b) {{ return b < {B} ? ({T})(a >> b) : 0; }}
)"},
    {"popcount", Helper::kAny, R"(// one bits
static inline {T} tw_popcount_{D}({T} a) {{
  {T} count = 0;
  for (int bit = 0; bit < {B}; ++bit) count = ({T})(count + (({U})a >> bit & 1));
  return count;
}}
)"},
    {"clz", Helper::kAny, R"(// zero bits above the highest one
static inline int32_t tw_clz_{D}({T} a) {{
  int32_t count = 0;
  while (count < {B} && (({U})a >> ({B} - 1 - count) & 1) == 0) ++count;
  return count;
}}
)"},
    {"rsqrt", Helper::kFloat, "static inline {T} tw_rsqrt_{D}({T} a) {{ return 1 / sqrt{F}(a); }}\n"},
    {"sigmoid", Helper::kFloat,
     "static inline {T} tw_sigmoid_{D}({T} a) {{ return 1 / (1 + exp{F}(-a)); }}\n"},
    {"exp10", Helper::kFloat, "static inline {T} tw_exp10_{D}({T} a) {{ return pow{F}(10, a); }}\n"},
};

// Makes this the current error of whoever loaded the library.
std::string raise(const std::string& symbol, int bytes) {
  return "// Makes this the current error of whoever loaded the library.\nstatic void " + symbol +
         "(const char* kind, const char* format, ...) {\n  char message[" + std::to_string(bytes) + "];" + R"(
  va_list values;
  va_start(values, format);
  vsnprintf(message, sizeof message, format, values);
  va_end(values);
  if (__tilewright_host) __tilewright_host->set_error(kind, message);
#ifdef __GNUC__
  else if (TVMFFIErrorSetRaisedFromCStr) TVMFFIErrorSetRaisedFromCStr(kind, message);
#endif
}
)";
}

constexpr std::string_view kParallelFor =
    R"(// All iterations below `extent`, on several threads if the loader has them.
static int32_t tw_parallel_for(TilewrightParallelBody body, void* closure, int64_t extent,
                               int64_t grain) {
  if (__tilewright_host) return __tilewright_host->parallel_for(body, closure, extent, grain);
  return body(closure, 0, extent);
}
)";

// malloc aligns for every scalar type, which is enough for C
constexpr std::string_view kWorkspaceAlloc = R"(static void* tw_workspace_alloc(int64_t bytes) {
  if (__tilewright_host) return __tilewright_host->workspace_alloc((uint64_t)bytes, 64);
  void* memory = malloc(bytes > 0 ? (size_t)bytes : 1);
  if (!memory) tw_raise("MemoryError", "temporary memory of a kernel could not be allocated");
  return memory;
}
)";

constexpr std::string_view kWorkspaceFree = R"(static void tw_workspace_free(void* memory) {
  if (__tilewright_host)
    __tilewright_host->workspace_free(memory);
  else
    free(memory);
}
)";

std::string dtype_text() {
  std::string text =
      "// The name of a dtype.\nstatic const char* tw_dtype_text(int32_t dtype) {\n  switch (dtype) {\n";
  for (const DtypeText& dtype : dtype_texts())
    text += fmt::format("    case {:#x}: return \"{}\";\n", dtype.packed, dtype.text);
  return text + "    default: return \"unknown\";\n  }\n}\n";
}

// Arithmetic on narrow types is done in int, in which a product of two uint16_t may overflow.
std::string unsigned_type(DataType dtype) { return c_type(DataType::uint(std::max<int>(dtype.bits, 32))); }

bool applies(const Helper& helper, DataType dtype) {
  if (helper.of == Helper::kAny) return !dtype.is_float();
  if (helper.of == Helper::kFloat) return dtype.is_float();
  return helper.of == Helper::kSigned ? dtype.is_int() : dtype.is_uint() || dtype.is_bool();
}

}  // namespace

bool CUnit::is_imported(std::string_view name) const {
  auto is_of_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t at = imported.find(name); at != std::string::npos; at = imported.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at == 0 || !is_of_name(imported[at - 1])) && (end == imported.size() || !is_of_name(imported[end])))
      return true;
  }
  return false;
}

std::string CUnit::helper(std::string_view name, DataType dtype) {
  std::string symbol = fmt::format("tw_{}_{}", name, dtype.str());
  if (helpers.count(symbol)) return symbol;
  for (const Helper& helper : kHelpers) {
    if (helper.name != name || !applies(helper, dtype)) continue;
    // shifts and bit counts need the exact width of the type
    const bool is_exact = name.starts_with("shift") || name == "popcount" || name == "clz";
    const std::string wide = dtype.is_float() ? ""
                             : is_exact       ? c_type(DataType::uint(dtype.bits))
                                              : unsigned_type(dtype);
    helpers[symbol] = fmt::format(fmt::runtime(helper.text), fmt::arg("T", c_type(dtype)),
                                  fmt::arg("U", wide), fmt::arg("D", dtype.str()), fmt::arg("B", dtype.bits),
                                  fmt::arg("F", dtype.bits == 32 ? "f" : ""));
    return symbol;
  }
  throw Unsupported("{} of dtype {} is not supported in C", name, dtype.str());
}

std::string CUnit::helper(std::string_view name) {
  std::string symbol = "tw_" + std::string(name);
  if (name == "raise" || name == "raise_long") {
    headers.insert({"stdarg.h", "stdio.h"});
    helpers[symbol] = raise(symbol, name == "raise" ? 512 : 4096);
  } else if (name == "parallel_for") {
    helpers[symbol] = kParallelFor;
  } else if (name == "dtype_text") {
    helpers[symbol] = dtype_text();
  } else if (name == "workspace_alloc") {
    helper("raise");
    headers.insert("stdlib.h");
    helpers[symbol] = kWorkspaceAlloc;
  } else {
    helpers[symbol] = kWorkspaceFree;
  }
  return symbol;
}

std::string CUnit::reinterpret(DataType from, DataType to) {
  std::string symbol = fmt::format("tw_{}_as_{}", from.str(), to.str());
  headers.insert("string.h");
  helpers[symbol] =
      fmt::format("static inline {0} {1}({2} a) {{\n  {0} b;\n  memcpy(&b, &a, sizeof b);\n  return b;\n}}\n",
                  c_type(to), symbol, c_type(from));
  return symbol;
}

}  // namespace tilewright::codegen
