// Floats of 4, 8 and 16 bits in C: integers of 8 or 16 bits, and conversions to and from float.
#include "tilewright/support/small_float.h"

#include "tilewright/codegen/c/printer.h"
#include "tilewright/support/format.h"

namespace tilewright::codegen {

std::string CUnit::narrow_float(DataType from, DataType to) {
  headers.insert("string.h");
  const std::string of_single = fmt::format("tw_{}_of_float32", to.str());
  helpers.emplace(of_single, narrow_text(to, kSpelling));
  if (from == kFloat32) return of_single;
  const std::string of_double = fmt::format("tw_{}_of_float64", to.str());
  helpers.emplace(of_double, narrow_double_text(to, kSpelling));
  return of_double;
}

std::string CUnit::widen_float(DataType from) {
  headers.insert("string.h");
  if (float_format(from).special == SpecialBits::kNanIsMinusZero) headers.insert("math.h");
  const std::string symbol = fmt::format("tw_float32_of_{}", from.str());
  helpers.emplace(symbol, widen_text(from, kSpelling));
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
