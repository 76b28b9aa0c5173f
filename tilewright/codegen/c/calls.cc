// Translates calls of operators and functions to C.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>

#include "tilewright/codegen/c/printer.h"
#include "tilewright/lower/lowered.h"
#include "tilewright/runtime/kernel_abi.h"
#include "tilewright/support/error.h"
#include "tilewright/support/one_of.h"
#include "tilewright/support/small_float.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/tensor_argument.h"

namespace tilewright::codegen {
namespace {

std::string literal_of(const CallNode* node, size_t position, const char* what) {
  const auto* literal = position < node->args.size() ? node->args[position].as<StringImmNode>() : nullptr;
  if (!literal) throw UserError(node, "{} must be a string literal", what);
  return literal->value;
}

}  // namespace

std::string CPrinter::arguments(const CallNode* node, size_t begin) {
  std::vector<std::string> args;
  for (size_t n = begin; n < node->args.size(); ++n) args.push_back(text(node->args[n]));
  return fmt::format("{}", fmt::join(args, ", "));
}

Code CPrinter::arithmetic_call(std::string_view name, DataType dtype, const std::vector<PrimExpr>& args) {
  std::vector<std::string> values;
  for (const PrimExpr& arg : args) values.push_back(text(arg));
  return {fmt::format("{}({})", unit_.helper(name, dtype), fmt::join(values, ", "))};
}

Code CPrinter::call(const CallNode* node, std::string_view name) {
  if (const auto* callee = node->op.as<GlobalVarNode>()) return call_function(node, callee->name_hint);
  if (is_one_of(name, {"isnan", "isinf", "isfinite"})) {
    if (!node->args[0]->dtype.is_float()) return {name == "isfinite" ? "true" : "false"};
    return {fmt::format("{}({}) != 0", name, text(node->args[0])), Level::kEquality};
  }
  if (const std::string function = unit_.polynomial(name, node->dtype); !function.empty())
    return {fmt::format("{}({})", function, arguments(node, 0))};
  if (is_one_of(name, {"rsqrt", "sigmoid", "exp10"})) return arithmetic_call(name, node->dtype, node->args);
  if (name == "pow" && node->dtype.is_integral()) return arithmetic_call(name, node->dtype, node->args);
  if (!math_function(name).empty() && (node->dtype.is_float() || name != "abs")) return math(node, name);
  if (is_of_whole_numbers(name)) return whole_numbers(node, name);
  if (name == "peek") return peek(node);
  if (name == "reinterpret") return reinterpret(node);
  if (name == "call_extern" || name == "call_pure_extern") return call_extern(node);
  if (name == "call_packed" || name == "call_cpacked") return call_packed(node);
  if (name == "call_parallel") return call_parallel(node);
  if (name == "raise_error") return raise(node);
  if (name == "dtype_text") return {fmt::format("{}({})", unit_.helper("dtype_text"), text(node->args[0]))};
  return memory(node, name);
}

Code CPrinter::math(const CallNode* node, std::string_view name) {
  if (!node->dtype.is_float())
    throw Unsupported(node, "{} of dtype {} is not supported in C", name, node->dtype.str())
        .help("cast to float32 first");
  const char* suffix = node->dtype.bits == 32 ? "f" : "";
  type_name(node->dtype);  // raises for types that C does not have
  return {fmt::format("{}{}({})", math_function(name), suffix, arguments(node, 0))};
}

Code CPrinter::memory(const CallNode* node, std::string_view name) {
  if (name == "isnullptr") return {"!" + text(node->args[0], Level::kPrefix), Level::kPrefix};
  if (name == "undef") return {node->dtype.is_handle() ? "NULL" : "0"};
  if (is_one_of(name, {"prefetch", "assume"})) return {};  // a hint that C does not know
  if (name == "ret") {
    leave(node->args.empty() ? "0" : text(node->args[0]));
    return {};
  }
  if (name == "poke") {
    const std::string place =
        fmt::format("({}*)((char*){} + {})", memory_type_name(node->args[2]->dtype),
                    text(node->args[0], Level::kPrefix), text(node->args[1], Level::kProduct));
    std::string value = text(node->args[2]);
    line(fmt::format("*{} = {};", place, value));
    return {};
  }
  if (name == "address_of") {
    const auto* load = node->args[0].as<BufferLoadNode>();
    TILEWRIGHT_CHECK(load, "address_of of something that is no buffer element");
    return {"&" + element(load->buffer, load->indices), Level::kPrefix};
  }
  if (name == "large_uint_imm") {
    int64_t low = 0, high = 0;
    if (!as_const_int(node->args[0], &low) || !as_const_int(node->args[1], &high))
      throw UserError(node, "large_uint_imm takes two literals");
    return {fmt::format("{}ULL", (static_cast<uint64_t>(high) << 32) + static_cast<uint64_t>(low))};
  }
  throw Unsupported(node, "operator {} is not supported in C", name);
}

// peek(pointer, byte offset): members of the entry's arguments are accessed by name
Code CPrinter::peek(const CallNode* node) {
  struct Member {
    int64_t offset;
    const char* text;
  };
  static constexpr Member kTensor[] = {
      {offsetof(DLTensor, data), "(int64_t)(uintptr_t){}->data"},
      {offsetof(DLTensor, device), "{}->device.device_type"},
      {offsetof(DLTensor, ndim), "{}->ndim"},
      {offsetof(DLTensor, shape), "{}->shape"},
      {offsetof(DLTensor, strides), "{}->strides"},
      {offsetof(DLTensor, byte_offset), "(int64_t){}->byte_offset"},
      {offsetof(DLTensor, dtype) + 1, "{}->dtype.bits"},
  };
  const std::string pointer = text(node->args[0], Level::kPrimary);
  int64_t offset = 0;
  const auto* var = node->args[0].as<VarNode>();
  const auto found = var ? described_.find(var) : described_.end();
  if (found != described_.end() && as_const_int(node->args[1], &offset)) {
    if (found->second == Described::kExtents) return {fmt::format("{}[{}]", pointer, offset / 8)};
    if (found->second == Described::kArgs) {
      const char* member = offset % 16 == 0          ? "type_index"
                           : node->dtype.is_handle() ? "value.v_ptr"
                           : node->dtype.is_float()  ? "value.v_float64"
                                                     : "value.v_int64";
      return {fmt::format("{}[{}].{}", pointer, offset / 16, member)};
    }
    if (offset == offsetof(DLTensor, dtype) && node->dtype.bits == 8) return {pointer + "->dtype.code"};
    if (offset == offsetof(DLTensor, dtype))
      return {fmt::format("({0}->dtype.code | {0}->dtype.bits << 8 | {0}->dtype.lanes << 16)", pointer)};
    for (const Member& member : kTensor) {
      if (member.offset == offset) {
        std::string code = fmt::format(fmt::runtime(member.text), pointer);
        return {code, code[0] == '(' ? Level::kPrefix : Level::kPrimary};
      }
    }
  }
  return {fmt::format("*({} const*)((const char*){} + {})", memory_type_name(node->dtype), pointer,
                      text(node->args[1], Level::kProduct)),
          Level::kPrefix};
}

Code CPrinter::reinterpret(const CallNode* node) {
  const PrimExpr& value = node->args[0];
  const DataType from = value->dtype, to = node->dtype;
  if (from == to) return expr(value);
  if (from.is_handle() || to.is_handle()) {
    const std::string number = "(uintptr_t)" + text(value, Level::kPrefix);
    return {fmt::format("({}){}", to.is_handle() ? "void*" : c_type(to), number), Level::kPrefix};
  }
  if (register_bits(from) != register_bits(to))
    throw UserError(node, "reinterpret: {} has {} bits, {} has {}", from.str(), from.bits, to.str(), to.bits);
  return {fmt::format("{}({})", unit_.reinterpret(from, to), text(value))};
}

Code CPrinter::call_extern(const CallNode* node) {
  const std::string function = literal_of(node, 0, "call_extern: the function");
  if (!is_identifier(function))
    throw UserError(node, "call_extern: \"{}\" is not the name of a C function", function);
  std::vector<std::string> types;
  for (size_t n = 1; n < node->args.size(); ++n)
    types.push_back(node->args[n].as<StringImmNode>() ? "const char*" : type_name(node->args[n]->dtype));
  const std::string result = node->dtype.is_void() ? "void" : type_name(node->dtype);
  const bool is_math = is_math_function(function);
  const std::string declared = fmt::format(
      "{} {}({});\n", result, function, types.empty() ? "void" : fmt::format("{}", fmt::join(types, ", ")));
  const bool is_known = is_math || unit_.is_imported(function);
  const auto [known, is_new] = unit_.externs.emplace(function, is_known ? "" : declared);
  if (!is_known && known->second != declared)
    throw UserError(node, "call_extern: {} is called with other types than before", function);
  return {fmt::format("{}({})", function, arguments(node, 1))};
}

// ---- leaving the function

void CPrinter::leave(const std::string& status) {
  run_cleanups();
  line("return " + status + ";");
}

void CPrinter::leave_if(const std::string& failed) {
  if (cleanups_.empty()) return line("if (" + failed + ") return -1;");
  open("if (" + failed + ") {");
  leave("-1");
  close();
}

void CPrinter::fail(std::string_view kind, std::string_view message) {
  // the text must not be interpreted as a format
  const bool is_format = message.find('%') != std::string_view::npos;
  line(fmt::format("{}({}, {}{});", unit_.helper("raise"), quoted(kind), is_format ? "\"%s\", " : "",
                   quoted(message)));
  leave("-1");
}

Code CPrinter::raise(const CallNode* node) {
  const std::string kind = literal_of(node, 0, "raise_error: the kind");
  const std::string format = literal_of(node, 1, "raise_error: the message");
  if (node->args.size() == 2) {
    fail(kind, format);
    return {};
  }
  std::string values;
  size_t at = 0;
  for (size_t n = 2; n < node->args.size(); ++n) {
    // the type that the next conversion specifier expects
    while ((at = format.find('%', at)) != std::string::npos && format[at + 1] == '%') at += 2;
    const std::string_view conversion =
        at == std::string::npos ? std::string_view() : std::string_view(format).substr(at, 4);
    const DataType dtype = node->args[n]->dtype;
    const bool is_int = dtype.is_bool() || (dtype.is_integral() && dtype.bits <= (dtype.is_int() ? 32 : 16));
    const char* cast = conversion == "%lld"             ? "(long long)"
                       : conversion == "%llu"           ? "(unsigned long long)"
                       : dtype.is_integral() && !is_int ? "(int)"
                                                        : "";
    values += ", " + (cast + text(node->args[n], *cast ? Level::kPrefix : Level::kChoice));
    if (at != std::string::npos) ++at;
  }
  line(fmt::format("{}({}, {}{});", unit_.helper(lower::is_long_format(format) ? "raise_long" : "raise"),
                   quoted(kind), quoted(format), values));
  leave("-1");
  return {};
}

// ---- functions of the unit and of the process

Code CPrinter::call_function(const CallNode* node, const std::string& name) {
  const GlobalVar callee = module_->find_global_var(name);
  TILEWRIGHT_CHECK(callee, "the lowered module has no function {}", name);
  leave_if(fmt::format("{}({}) != 0", name, arguments(node, 0)));
  return {};
}

Code CPrinter::call_parallel(const CallNode* node) {
  const std::string function = literal_of(node, 0, "call_parallel: the function");
  const std::string extent = index_text(node->args[1]), grain = index_text(node->args[2]);
  std::string closure = "NULL";
  if (node->args.size() > 3) {
    const std::string name = names_.declare("values");
    line(fmt::format("struct {}_values {} = {{{}}};", function, name, arguments(node, 3)));
    closure = "&" + name;
  }
  leave_if(fmt::format("{}({}_range, {}, {}, {}) != 0", unit_.helper("parallel_for"), function, closure,
                       extent, grain));
  return {};
}

// Defines a DLTensor that describes the memory; returns its name.
std::string CPrinter::tensor_argument(const CallNode* node) {
  const TensorArgument tensor = tensor_argument_of(node);
  auto numbers = [&](const std::vector<PrimExpr>& list, std::string_view base) {
    std::vector<std::string> texts;
    for (const PrimExpr& each : list) texts.push_back(text(each));
    const std::string name = names_.declare(std::string(base));
    line(fmt::format("int64_t {}[{}] = {{{}}};", name, std::max<size_t>(texts.size(), 1),
                     texts.empty() ? "0" : fmt::format("{}", fmt::join(texts, ", "))));
    return name;
  };
  const std::string shape = numbers(tensor.shape, "shape");
  const std::string strides = tensor.strides.empty() ? "NULL" : numbers(tensor.strides, "strides");
  std::string data = "(void*)" + text(tensor.data, Level::kPrefix);
  if (!is_zero(tensor.offset))
    data = fmt::format("(char*){} + {} * {}", data, text(tensor.offset, Level::kPrefix), tensor.num_bytes);
  const std::string name = names_.declare("tensor");
  line(fmt::format("DLTensor {} = {{{}, {{1, 0}}, {}, {{{}, {}, {}}}, {}, {}, 0}};", name, data,
                   tensor.shape.size(), static_cast<int>(tensor.dtype.code), tensor.dtype.bits,
                   tensor.dtype.lanes, shape, strides));
  return name;
}

Code CPrinter::call_packed(const CallNode* node) {
  const std::string function = literal_of(node, 0, "call_packed: the name");
  const size_t count = node->args.size() - 1;
  const std::string args = names_.declare("args"), result = names_.declare("result");
  line(fmt::format("TilewrightAny {}[{}], {} = {{{}, 0, {{0}}}};", args, std::max<size_t>(count, 1), result,
                   static_cast<int>(kTilewrightNone)));
  for (size_t n = 0; n < count; ++n) {
    const PrimExpr& arg = node->args[n + 1];
    const DataType dtype = arg->dtype;
    const bool is_text = arg.as<StringImmNode>() != nullptr, is_tensor = is_tensor_argument(arg);
    const int code = is_text             ? kTilewrightRawStr
                     : is_tensor         ? kTilewrightDLTensor
                     : dtype.is_bool()   ? kTilewrightBool
                     : dtype.is_float()  ? kTilewrightFloat
                     : dtype.is_handle() ? kTilewrightPointer
                                         : kTilewrightInt;
    const char* member = is_text || dtype.is_handle() ? "v_ptr" : dtype.is_float() ? "v_float64" : "v_int64";
    const char* cast = is_text || dtype.is_handle() ? "(void*)" : "";
    std::string value = is_tensor ? "&" + tensor_argument(arg.as<CallNode>())
                                  : text(arg, *cast ? Level::kPrefix : Level::kChoice);
    line(fmt::format("{0}[{1}].type_index = {2}, {0}[{1}].padding = 0, {0}[{1}].value.{3} = {4}{5};", args, n,
                     code, member, cast, value));
  }
  open("if (!__tilewright_host) {");
  fail("RuntimeError",
       fmt::format("function \"{}\" is in the registry of tilewright's runtime, which did not load this code",
                   function));
  close();
  leave_if(fmt::format("__tilewright_host->call_packed({}, {}, {}, &{}) != 0", quoted(function), args, count,
                       result));
  const DataType dtype = node->dtype;
  if (dtype.is_void()) return {};
  if (dtype.is_handle()) return {result + ".value.v_ptr"};
  if (!dtype.is_float()) return {fmt::format("({}){}.value.v_int64", c_type(dtype), result), Level::kPrefix};
  return {fmt::format("({0})({1}.type_index == {2} ? {1}.value.v_float64 : (double){1}.value.v_int64)",
                      c_type(dtype), result, static_cast<int>(kTilewrightFloat)),
          Level::kPrefix};
}

}  // namespace tilewright::codegen
