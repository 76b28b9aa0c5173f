// Values of kernels: literals, conversions, calls.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "tilewright/codegen/device/printer.h"
#include "tilewright/ir/walk.h"
#include "tilewright/support/error.h"
#include "tilewright/support/one_of.h"
#include "tilewright/support/small_float.h"
#include "tilewright/tir/builder.h"

namespace tilewright::codegen {
namespace {

bool is_float16(DataType dtype) { return dtype.element() == DataType::float_(16); }

void replace_all(std::string* text, std::string_view from, std::string_view to) {
  for (size_t at = text->find(from); at != std::string::npos; at = text->find(from, at + to.size()))
    text->replace(at, from.size(), to);
}

}  // namespace

bool DevicePrinter::is_bits(DataType dtype) const {
  if (!is_small_float(dtype)) return false;
  return !is_float16(dtype) || spelling_.type(DataType::float_(16)) != "half";
}

// ---- helpers

std::string DevicePrinter::helper(std::string_view name, DataType dtype) {
  const std::string symbol = fmt::format("tw_{}_{}", name, dtype.str());
  if (unit_.helpers.count(symbol)) return symbol;
  std::string text = helper_text(name, dtype, spelling_);
  if (text.empty() || is_bits(dtype))
    throw Unsupported("{} of dtype {} is not supported in {}", name, dtype.str(), language_);
  if (is_float16(dtype)) replace_all(&text, "isnan(a)", "isnan((float)a)");
  unit_.helpers[symbol] = std::move(text);
  return symbol;
}

std::string DevicePrinter::helper(std::string name, std::string text) {
  unit_.helpers.emplace(name, std::move(text));
  return name;
}

std::string DevicePrinter::polynomial(std::string_view name) {
  const std::string_view needed = polynomial_needs(name);
  if (needed == "small_exp") helper("tw_small_exp", polynomial_text(needed, spelling_));
  return helper(fmt::format("tw_{}_float32", name), polynomial_text(name, spelling_));
}

std::string DevicePrinter::narrow_float(DataType from, DataType to) {
  const std::string of_single = helper(fmt::format("tw_{}_of_float32", to.str()), narrow_text(to, spelling_));
  if (from == kFloat32) return of_single;
  return helper(fmt::format("tw_{}_of_float64", to.str()), narrow_double_text(to, spelling_));
}

std::string DevicePrinter::widen_float(DataType from) {
  return helper(fmt::format("tw_float32_of_{}", from.str()), widen_text(from, spelling_));
}

// ---- literals and conversions

// The shortest decimal that is read back as the same value.
Code DevicePrinter::float_literal(double value, DataType dtype) const {
  if (is_bits(dtype)) return {fmt::format("{:#x}", encode_float(value, float_format(dtype)))};
  if (is_float16(dtype))
    return {fmt::format("(half){}", within(float_literal(value, kFloat32), Level::kPrefix)), Level::kPrefix};
  spelling_.type(dtype);  // raises for types that the language does not have
  if (std::isnan(value)) return {"NAN"};
  if (std::isinf(value))
    return {value > 0 ? "INFINITY" : "-INFINITY", value > 0 ? Level::kPrimary : Level::kPrefix};
  const bool is_single = dtype.bits == 32;
  std::string text = is_single ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return {text + (is_single ? "f" : ""), text[0] == '-' ? Level::kPrefix : Level::kPrimary};
}

Code DevicePrinter::cast(const CastNode* node) {
  const DataType from = node->value->dtype, to = node->dtype;
  if (from == to) return expr(node->value);
  if (is_bits(from)) {
    const Code single{fmt::format("{}({})", widen_float(from), text(node->value))};
    if (is_bits(to)) return {fmt::format("{}({})", narrow_float(kFloat32, to), single.text)};
    return to == kFloat32 ? single : cast_of(single, kFloat32, to);
  }
  // float16 has too many conversions for a choice among them, but to and from float32
  const bool is_indirect = is_float16(from) && to != kFloat32;
  const Code value = is_indirect ? cast_of(expr(node->value), from, kFloat32) : expr(node->value);
  const DataType source = is_indirect ? kFloat32 : from;
  if (is_bits(to)) {
    const bool is_exact_in_single = source.is_bool() || (source.is_integral() && source.bits <= 16);
    const DataType wide = source == kFloat32 || is_exact_in_single ? kFloat32 : DataType::float_(64);
    return {fmt::format("{}({})", narrow_float(wide, to),
                        (source == wide ? value : cast_of(value, source, wide)).text)};
  }
  if (is_float16(to) && from.is_bool()) return cast_of(cast_of(value, from, kFloat32), kFloat32, to);
  return cast_of(value, source, to);
}

std::string DevicePrinter::nan_test(const PrimExpr& e) {
  if (is_float16(e->dtype)) return "isnan((float)" + text(e, Level::kPrefix) + ")";
  return "isnan(" + text(e) + ")";
}

// ---- calls

std::string DevicePrinter::arguments(const CallNode* node, size_t begin) {
  std::vector<std::string> args;
  for (size_t n = begin; n < node->args.size(); ++n) args.push_back(text(node->args[n]));
  return fmt::format("{}", fmt::join(args, ", "));
}

Code DevicePrinter::arithmetic_call(std::string_view name, DataType dtype,
                                    const std::vector<PrimExpr>& args) {
  std::vector<std::string> values;
  for (const PrimExpr& arg : args) values.push_back(text(arg));
  const bool is_plain = dtype == kInt32 && (name == "min" || name == "max");
  return {fmt::format("{}({})", is_plain ? std::string(name) : helper(name, dtype), fmt::join(values, ", "))};
}

std::string DevicePrinter::math_name(std::string_view op, DataType dtype) {
  const std::string_view name = op == "rsqrt" ? "rsqrt" : op == "exp10" ? "exp10" : math_function(op);
  if (name.empty()) return "";
  return std::string(name) + (spelling_.has_float_functions && dtype == kFloat32 ? "f" : "");
}

Code DevicePrinter::math(const CallNode* node, std::string_view name) {
  const DataType dtype = node->dtype;
  if (!dtype.is_float())
    throw Unsupported(node, "{} of dtype {} is not supported in {}", name, dtype.str(), language_)
        .help("cast to float32 first");
  if (is_small_float(dtype))
    throw InternalError("{} of dtype {} was not lowered before code generation", name, dtype.str());
  type_name(dtype);  // raises for types that the language does not have
  const std::string function = math_name(name, dtype);
  if (function.empty())
    throw Unsupported(node, "{} of dtype {} is not supported in {}", name, dtype.str(), language_);
  return {fmt::format("{}({})", function, arguments(node, 0))};
}

Code DevicePrinter::call(const CallNode* node, std::string_view name) {
  Code own;
  if (own_call(node, name, &own)) return own;
  if (is_one_of(name, {"isnan", "isinf", "isfinite"})) {
    const DataType dtype = node->args[0]->dtype;
    if (!dtype.is_float()) return {name == "isfinite" ? "true" : "false"};
    const std::string value = is_float16(dtype) && !is_bits(dtype)
                                  ? "(float)" + text(node->args[0], Level::kPrefix)
                                  : text(node->args[0]);
    return {fmt::format("{}({}) != 0", name, value), Level::kEquality};
  }
  if (name == "sigmoid" || (name == "pow" && node->dtype.is_integral()))
    return arithmetic_call(name, node->dtype, node->args);
  const bool is_math = !math_function(name).empty() || name == "rsqrt" || name == "exp10";
  if (is_math && (node->dtype.is_float() || name != "abs")) return math(node, name);
  if (is_of_whole_numbers(name)) return whole_numbers(node, name);
  if (name == "tvm_storage_sync") return sync(node);
  if (name == "tvm_warp_activemask") return {active_mask()};
  if (name.starts_with("tvm_warp_shuffle")) {
    TILEWRIGHT_CHECK(node->args.size() == 5, "{} takes 5 arguments", name);
    return {shuffle(node, name.substr(std::string_view("tvm_warp_shuffle").size()))};
  }
  if (name == "reinterpret") {
    const DataType from = node->args[0]->dtype, to = node->dtype;
    if (from == to) return expr(node->args[0]);
    if (register_bits(from) != register_bits(to) || from.is_handle() || to.is_handle())
      throw UserError(node, "reinterpret: {} has {} bits, {} has {}", from.str(), from.bits, to.str(),
                      to.bits);
    return {bit_cast(text(node->args[0]), from, to)};
  }
  if (name == "address_of") {
    const auto* load = node->args[0].as<BufferLoadNode>();
    TILEWRIGHT_CHECK(load, "address_of of something that is no buffer element");
    const auto* vector = load->indices[0].as<RampNode>();
    const PrimExpr first = vector ? vector->base : load->indices[0];
    return {"&" + element(load->buffer, {first}), Level::kPrefix};
  }
  if (name == "tvm_access_ptr" && node->args.size() == 5) {
    const auto* data = node->args[1].as<VarNode>();
    const DataType dtype = node->args[0]->dtype;
    if (!data || pointee(data) != dtype)
      throw Unsupported(node, "tvm_access_ptr of elements of dtype {} is not supported in {}", dtype.str(),
                        language_)
          .help("use T.address_of of an element");
    return {fmt::format("&{}[{}]", names_.of(data), index_text(node->args[2])), Level::kPrefix};
  }
  if (name == "call_extern" || name == "call_pure_extern") {
    const auto* function = node->args.empty() ? nullptr : node->args[0].as<StringImmNode>();
    if (!function || !is_identifier(function->value))
      throw UserError(node, "{}: the function must be a string literal that is a name", name);
    return {fmt::format("{}({})", function->value, arguments(node, 1))};
  }
  if (name == "large_uint_imm") {
    int64_t low = 0, high = 0;
    if (!as_const_int(node->args[0], &low) || !as_const_int(node->args[1], &high))
      throw UserError(node, "large_uint_imm takes two literals");
    return {fmt::format("{}U{}", (static_cast<uint64_t>(high) << 32) + static_cast<uint64_t>(low),
                        long_suffix())};
  }
  if (name == "ret") {
    line("return;");
    return {};
  }
  if (name == "undef") return {"0"};
  if (is_one_of(name, {"prefetch", "assume"})) return {};  // hints that devices do not know
  throw Unsupported(node, "operator {} is not supported in {}", name, language_);
}

}  // namespace tilewright::codegen
