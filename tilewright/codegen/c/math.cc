// The polynomials of codegen/source/polynomials.cc in C.
#include <fmt/format.h>

#include "tilewright/codegen/c/printer.h"

namespace tilewright::codegen {

std::string CUnit::polynomial(std::string_view name, DataType dtype) {
  if (dtype != kFloat32 || name == "small_exp") return "";
  std::string text = polynomial_text(name, kSpelling);
  if (text.empty()) return "";
  headers.insert("string.h");
  std::string symbol = fmt::format("tw_{}_float32", name);
  helpers[symbol] = std::move(text);
  const std::string_view needed = polynomial_needs(name);
  if (needed == "exp") helpers["tw_exp_float32"] = polynomial_text(needed, kSpelling);
  if (needed == "small_exp") helpers["tw_small_exp"] = polynomial_text(needed, kSpelling);
  return symbol;
}

}  // namespace tilewright::codegen
