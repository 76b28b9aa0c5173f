// Calls of operators that all languages write alike.
#include <fmt/format.h>

#include "tilewright/codegen/source/helpers.h"
#include "tilewright/codegen/source/printer.h"
#include "tilewright/support/error.h"
#include "tilewright/support/one_of.h"

namespace tilewright::codegen {
namespace {

// functions by operator
struct MathRow {
  std::string_view op, function;
};
constexpr MathRow kMath[] = {
    {"exp", "exp"},           {"exp2", "exp2"},
    {"log", "log"},           {"log2", "log2"},
    {"log10", "log10"},       {"log1p", "log1p"},
    {"sqrt", "sqrt"},         {"sin", "sin"},
    {"cos", "cos"},           {"tan", "tan"},
    {"asin", "asin"},         {"acos", "acos"},
    {"atan", "atan"},         {"sinh", "sinh"},
    {"cosh", "cosh"},         {"tanh", "tanh"},
    {"asinh", "asinh"},       {"acosh", "acosh"},
    {"atanh", "atanh"},       {"erf", "erf"},
    {"floor", "floor"},       {"ceil", "ceil"},
    {"trunc", "trunc"},       {"round", "rint"},
    {"nearbyint", "rint"},    {"fabs", "fabs"},
    {"pow", "pow"},           {"atan2", "atan2"},
    {"fmod", "fmod"},         {"hypot", "hypot"},
    {"fma", "fma"},           {"abs", "fabs"},
    {"copysign", "copysign"}, {"nextafter", "nextafter"},
};

const MathRow* find_math(std::string_view op) {
  for (const MathRow& row : kMath) {
    if (row.op == op) return &row;
  }
  return nullptr;
}

}  // namespace

std::string_view math_function(std::string_view op) {
  const MathRow* row = find_math(op);
  return row ? row->function : std::string_view();
}

bool is_math_function(std::string_view name) {
  for (const MathRow& row : kMath) {
    if (name == row.function || (name.starts_with(row.function) && name.substr(row.function.size()) == "f"))
      return true;
  }
  return false;
}

bool is_of_whole_numbers(std::string_view op) {
  return is_one_of(op, {"bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "shift_left",
                        "shift_right", "abs", "clz", "popcount"});
}

Code SourcePrinter::whole_numbers(const CallNode* node, std::string_view name) {
  const DataType dtype = node->args[0]->dtype;
  if (name == "abs" && !dtype.is_int()) return expr(node->args[0]);
  if (is_one_of(name, {"abs", "clz", "popcount", "shift_left", "shift_right"})) {
    if (dtype.is_float()) throw UserError(node, "{} takes integers, but is given {}", name, dtype.str());
    return arithmetic_call(name, dtype, node->args);
  }
  if (name == "bitwise_not") {
    if (dtype.is_bool()) return {"!" + text(node->args[0], Level::kPrefix), Level::kPrefix};
    return {fmt::format("({})~{}", type_name(dtype), text(node->args[0], Level::kPrefix)), Level::kPrefix};
  }
  const char* symbol = name == "bitwise_and" ? "&" : name == "bitwise_or" ? "|" : "^";
  std::string left = operand(node->args[0], node->args[1], Level::kPrefix);
  return {left + " " + symbol + " " + operand(node->args[1], node->args[0], Level::kPrefix), Level::kBits};
}

}  // namespace tilewright::codegen
