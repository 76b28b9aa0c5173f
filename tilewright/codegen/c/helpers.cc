// Helper functions for printed C (codegen/source/helpers.h has those that other languages share), and services
// of the process that loads the library.
#include <fmt/format.h>

#include <cctype>

#include "tilewright/codegen/c/printer.h"
#include "tilewright/codegen/source/dtype_texts.h"
#include "tilewright/support/error.h"

namespace tilewright::codegen {
namespace {

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
  std::string text = helper_text(name, dtype, kSpelling);
  if (text.empty()) throw Unsupported("{} of dtype {} is not supported in C", name, dtype.str());
  helpers[symbol] = std::move(text);
  return symbol;
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
