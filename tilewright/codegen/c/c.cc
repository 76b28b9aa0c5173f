#include "tilewright/codegen/c/c.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "tilewright/codegen/c/printer.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/lowered.h"
#include "tilewright/runtime/kernel_abi.h"
#include "tilewright/support/error.h"
#include "tilewright/support/small_float.h"
#include "tilewright/tir/builder.h"

namespace tilewright::codegen {
namespace {

constexpr std::string_view kHostTypes = R"(
// What functions are given, and the services of the process that loads this library, as in
// tilewright/runtime/kernel_abi.h.
typedef struct TilewrightAny {
  int32_t type_index;  // 0 none, 1 int, 2 bool, 3 float, 4 pointer, 7 DLTensor, 8 text, 70 tensor object
  uint32_t padding;
  union {
    int64_t v_int64;
    double v_float64;
    void* v_ptr;
  } value;
} TilewrightAny;

typedef struct DLTensor {
  void* data;
  struct {
    int32_t device_type, device_id;
  } device;
  int32_t ndim;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} DLTensor;

typedef int32_t (*TilewrightParallelBody)(void* closure, int64_t begin, int64_t end);

typedef struct TilewrightHost {
  uint32_t version, num_members;
  int32_t (*parallel_for)(TilewrightParallelBody body, void* closure, int64_t extent, int64_t grain);
  void (*set_error)(const char* kind, const char* message);
  void* (*workspace_alloc)(uint64_t bytes, uint64_t alignment);
  void (*workspace_free)(void* memory);
  int32_t (*call_packed)(const char* name, const TilewrightAny* args, int32_t num_args,
                         TilewrightAny* result);
} TilewrightHost;

// Filled in by tilewright's loader; null elsewhere.
extern const TilewrightHost* __tilewright_host;
#ifdef __GNUC__
// how other hosts of tvm-ffi are told of errors
void TVMFFIErrorSetRaisedFromCStr(const char* kind, const char* message) __attribute__((weak));
#endif
)";

// GCC keeps the sums of a register tile in registers only if the loops over its rows and vectors are written
// out, and that over lanes is not: it then becomes one vector.
constexpr std::string_view kLoopHints = R"(
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 8
#define TW_WRITTEN_OUT _Pragma("GCC unroll 16")
#define TW_LANES _Pragma("GCC unroll 1")
#else
#define TW_WRITTEN_OUT
#define TW_LANES
#endif
)";

// How often statements in `loop` stand if unrolled loops are written out; 0 if no loop over lanes is among
// them.
int64_t copies_with_lanes(const ForNode* loop) {
  int64_t extent, inside = 0;
  if (loop->for_kind == ForKind::kVectorized) return 1;
  if (loop->for_kind != ForKind::kUnrolled || !as_const_int(loop->extent, &extent)) return 0;
  walk(loop->body, [&](const ForNode* inner) { inside = std::max(inside, copies_with_lanes(inner)); });
  return extent * inside;
}

// True if branches would be written out as often: GCC takes seconds for them.
bool has_conditions(const Stmt& stmt) {
  bool found = false;
  walk(
      stmt, [&](const IfThenElseNode*) { found = true; },
      [&](const CallNode* call) {
        const auto* op = call->op.as<OpNode>();
        found |= op && op->name == "tir.if_then_else";
      });
  return found;
}

void check_name(const IRModule& module) {
  const std::string& name = module->global_vars.back()->name_hint;
  if (!is_identifier(name))
    throw UserError("function \"{}\" cannot be written in C: the name is not an identifier", name)
        .help("give it a global_symbol of letters, digits and _");
}

// Names that variables must not hide: functions of the unit, and C functions that it calls.
std::set<std::string, std::less<>> callable_names(std::span<const ir::IRModule> modules) {
  std::set<std::string, std::less<>> names = {
      "NULL",     "INFINITY", "NAN",      "isnan",     "isinf",    "isfinite",      "memcpy",
      "snprintf", "malloc",   "free",     "EOF",       "BUFSIZ",   "stdin",         "stdout",
      "stderr",   "errno",    "HUGE_VAL", "HUGE_VALF", "DLTensor", "TilewrightAny", "TilewrightHost"};
  for (const char* function :
       {"exp",  "exp2",  "log",  "log2", "log10", "log1p", "sqrt",  "sin",   "cos",      "tan",      "asin",
        "acos", "atan",  "sinh", "cosh", "tanh",  "asinh", "acosh", "atanh", "erf",      "floor",    "ceil",
        "rint", "trunc", "fabs", "pow",  "atan2", "fmod",  "hypot", "fma",   "copysign", "nextafter"}) {
    names.insert(function);
    names.insert(std::string(function) + "f");
  }
  for (const char* type : {"int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t",
                           "uint64_t", "intptr_t", "uintptr_t", "size_t", "va_list"})
    names.insert(type);
  for (const ir::IRModule& module : modules) {
    for (const auto& var : module->global_vars) names.insert(var->name_hint);
    walk(module, [&](const CallNode* node) {
      const auto* op = node->op.as<OpNode>();
      const auto* name = node->args.empty() ? nullptr : node->args[0].as<StringImmNode>();
      if (op && name && (op->name == "tir.call_extern" || op->name == "tir.call_pure_extern"))
        names.insert(name->value);
    });
  }
  return names;
}

// The imported C texts of the functions, each once.
std::string imported_c(std::span<const ir::IRModule> modules) {
  std::set<std::string> known;
  std::string all;
  for (const ir::IRModule& module : modules) {
    const auto texts = ref_as<ArrayNode>(module->attrs.get(lower::kImportC));
    if (!texts) continue;
    for (const ObjectRef& text : texts->items) {
      const std::string& source = text.as<StringImmNode>()->value;
      if (known.insert(source).second) all += source + (source.ends_with('\n') ? "" : "\n");
    }
  }
  return all;
}

std::string bytes_literal(std::string_view bytes) {
  std::string text = "{";
  for (size_t n = 0; n < bytes.size(); ++n)
    text += fmt::format("{}{}", n % 24 == 0 ? "\n  " : "",
                        static_cast<unsigned>(static_cast<unsigned char>(bytes[n]))) +
            (n + 1 < bytes.size() ? "," : "");
  return text + "\n}";
}

// C99 limits string literals to 4095 characters; longer texts become arrays of characters.
std::string array_of_text(const std::string& name, const std::string& text) {
  if (text.size() < 4000) return wrapped(fmt::format("const char {}[] = {};", name, quoted(text)));
  return fmt::format("const char {}[] = {};\n", name, bytes_literal(text + '\0'));
}

}  // namespace

std::string c_type(DataType dtype) {
  if (dtype.is_bool()) return "bool";
  if (dtype.is_void()) return "void";
  if (dtype.is_handle()) return "void*";
  const bool is_whole = dtype.bits == 8 || dtype.bits == 16 || dtype.bits == 32 || dtype.bits == 64;
  if (dtype.is_scalar() && dtype.is_integral() && is_whole)
    return fmt::format("{}int{}_t", dtype.is_uint() ? "u" : "", dtype.bits);
  if (dtype == kFloat32) return "float";
  if (dtype == DataType::float_(64)) return "double";
  if (dtype.is_scalar() && is_small_float(dtype)) return dtype.bits == 16 ? "uint16_t" : "uint8_t";
  throw Unsupported("C99 has no values of dtype {}", dtype.str())
      .help("integers of 8 to 64 bits, bool and floats can be used");
}

// ---- the function

CPrinter::CPrinter(CUnit& unit, const IRModule& module, const std::string& name, const PrimFuncNode* func)
    : SourcePrinter(func, Names(unit.functions)),
      unit_(unit),
      module_(module),
      name_(name),
      kind_(func->attrs.get_string(lower::kLoweredKind, "")) {
  if (kind_ != lower::kEntry) return;
  described_[func->params[1].get()] = Described::kArgs;
  walk(func->body, [&](const LetStmtNode* node) {
    const auto* call = node->value.as<CallNode>();
    const auto* op = call && node->var->dtype.is_handle() ? call->op.as<OpNode>() : nullptr;
    if (op && op->name == "tir.reinterpret") described_[node->var.get()] = Described::kTensor;
    const auto* from = op && op->name == "tir.peek" ? call->args[0].as<VarNode>() : nullptr;
    auto found = from ? described_.find(from) : described_.end();
    if (found != described_.end() && found->second == Described::kTensor)
      described_[node->var.get()] = Described::kExtents;
  });
}

std::string CPrinter::memory_type_name(DataType dtype) const {
  const bool shares_bytes = dtype.is_integral() && dtype.bits < 8;
  return dtype.is_bool() || shares_bytes ? "uint8_t" : c_type(dtype);
}

std::string CPrinter::declaration(const VarNode* var, const std::string& name,
                                  std::string_view qualifier) const {
  auto found = described_.find(var);
  if (found == described_.end()) return SourcePrinter::declaration(var, name, qualifier);
  const char* type = found->second == Described::kArgs     ? "TilewrightAny"
                     : found->second == Described::kTensor ? "DLTensor"
                                                           : "int64_t";
  return fmt::format("const {}* {}", type, name);
}

std::string CPrinter::signature() {
  const bool is_entry = kind_ == lower::kEntry;
  const char* qualifier = func_->attrs.get_bool("tir.noalias", false) ? "restrict " : "";
  std::vector<std::string> params;
  for (size_t n = 0; n < func_->params.size(); ++n) {
    const VarNode* var = func_->params[n].get();
    const std::string& name = names_.declare(var);
    const bool is_result = is_entry && n == 3;
    params.push_back(is_result ? "TilewrightAny* " + name : declaration(var, name, qualifier));
  }
  const std::string symbol = func_->attrs.get_string("global_symbol", name_);
  return fmt::format("{}int32_t {}({}) {{", is_entry ? "" : "static ", symbol,
                     params.empty() ? "void" : fmt::format("{}", fmt::join(params, ", ")));
}

// The function that tw_parallel_for calls: it passes the captured values to the parallel body.
std::string CPrinter::range_function() const {
  if (kind_ != lower::kParallelBody) return "";
  std::string members, values = "begin, end";
  for (size_t n = 2; n < func_->params.size(); ++n) {
    const std::string& name = names_.of(func_->params[n].get());
    members += fmt::format("  {};\n", declaration(func_->params[n].get(), name, ""));
    values += ", values->" + name;
  }
  const bool has_values = !members.empty();
  std::string text = has_values ? fmt::format("struct {}_values {{\n{}}};\n", name_, members) : "";
  text += fmt::format("static int32_t {}_range(void* closure, int64_t begin, int64_t end) {{\n", name_);
  text +=
      has_values ? fmt::format("  const struct {}_values* values = closure;\n", name_) : "  (void)closure;\n";
  return text + wrapped(fmt::format("  return {}({});", name_, values)) + "}\n\n";
}

std::string CPrinter::comment() const {
  const std::string& func = module_->global_vars.back()->name_hint;
  if (kind_ == lower::kParallelBody)
    return fmt::format("// {}: iterations begin .. end - 1 of a parallel loop\n", func);
  if (kind_ == lower::kCompute) return fmt::format("// {}: what it computes\n", func);
  return fmt::format("// {}: checks its arguments and computes\n", func);
}

// The description of the parameters for the loader: shown in messages, and which are written.
std::string CPrinter::params_text() const {
  if (kind_ != lower::kEntry) return "";
  return array_of_text(TILEWRIGHT_PARAMS_PREFIX + name_, func_->attrs.get_string(lower::kKernelParams, "")) +
         "\n";
}

std::string CPrinter::print() {
  const std::string head = signature();
  depth_ = 1;
  for (const Var& param : func_->params) {
    if (!is_used(param.get(), 0)) line("(void)" + names_.of(param.get()) + ";");
  }
  stmt(func_->body);
  if (lines_.empty() || !lines_.back().starts_with("  return ")) line("return 0;");
  std::string text = comment() + wrapped(head);
  for (const std::string& each : lines_) text += wrapped(each);
  return text + "}\n\n" + range_function() + params_text();
}

// ---- expressions with a form of their own in C99

// The shortest decimal that is read back as the same value.
Code CPrinter::float_literal(double value, DataType dtype) const {
  c_type(dtype);
  if (is_small_float(dtype)) return {fmt::format("{:#x}", encode_float(value, float_format(dtype)))};
  if (std::isnan(value)) return {"NAN"};
  if (std::isinf(value))
    return {value > 0 ? "INFINITY" : "-INFINITY", value > 0 ? Level::kPrimary : Level::kPrefix};
  const bool is_single = dtype.bits == 32;
  std::string text = is_single ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return {text + (is_single ? "f" : ""), text[0] == '-' ? Level::kPrefix : Level::kPrimary};
}

Code CPrinter::vector(const PrimExpr& expr) {
  throw Unsupported(expr, "C99 has no vectors such as {}", expr->dtype.str());
}

void CPrinter::thread_loop(const ForNode* node) {
  throw UserError(node, "loop {} is bound to {}, which a CPU does not have", node->loop_var->name_hint,
                  node->thread_tag)
      .help("build for a GPU target, or use parallel instead of bind");
}

std::string CPrinter::loop_hint(const ForNode* node) {
  constexpr int64_t kMostCopies = 64;  // of a tile's statement: of more, GCC takes minutes
  constexpr int64_t kMostRows = 16;
  const ForNode* outer = node;
  for (size_t n = nest_.size(); n-- > 0 && nest_[n]->for_kind == ForKind::kUnrolled;) outer = nest_[n];
  const int64_t copies = copies_with_lanes(outer);
  int64_t extent;
  if (outer->for_kind != ForKind::kUnrolled || copies < 2 || copies > kMostCopies) return "";
  if (has_conditions(outer->body)) return "";
  if (node->for_kind == ForKind::kVectorized) {
    unit_.has_loop_hints = true;
    return "TW_LANES";
  }
  if (node->for_kind != ForKind::kUnrolled || !as_const_int(node->extent, &extent)) return "";
  if (extent < 2 || extent > kMostRows) return "";
  unit_.has_loop_hints = true;
  return "TW_WRITTEN_OUT";
}

// Small buffers of constant size are allocated on the stack, others in temporary memory.
void CPrinter::alloc(const AllocBufferNode* node) {
  const Buffer& buffer = node->buffer;
  TILEWRIGHT_CHECK(buffer->shape.size() == 1, "buffer {} was not flattened before code generation",
                   buffer->name);
  const std::string type = memory_type_name(buffer->dtype);
  const int64_t element_bytes = buffer->dtype.num_bytes();
  const std::string& name = names_.declare(buffer->data.get());
  int64_t count = 0;
  if (as_const_int(buffer->shape[0], &count) &&
      stack_bytes_ + std::max<int64_t>(count, 1) * element_bytes <= lower::kMaxStackBytes) {
    stack_bytes_ += std::max<int64_t>(count, 1) * element_bytes;
    line(fmt::format("{} {}[{}];", type, name, std::max<int64_t>(count, 1)));
    return stmt(node->body);
  }
  const std::string size = index_text(tir::cast(kInt64, buffer->shape[0]), Level::kProduct);
  const std::string alloc = unit_.helper("workspace_alloc"), free = unit_.helper("workspace_free");
  line(fmt::format("{}* {} = {}({} * {});", type, name, alloc, size, element_bytes));
  leave_if("!" + name);
  cleanups_.push_back(fmt::format("{}({});", free, name));
  stmt(node->body);
  const std::string release = std::move(cleanups_.back());
  cleanups_.pop_back();
  line(release);
}

// ---- the unit

std::string emit_c(std::span<const ir::IRModule> lowered) {
  CUnit unit;
  unit.functions = callable_names(lowered);
  unit.imported = imported_c(lowered);
  std::string functions;
  for (const ir::IRModule& module : lowered) {
    check_name(module);
    for (size_t n = 0; n < module->functions.size(); ++n) {
      const auto* func = module->functions[n].as<PrimFuncNode>();
      const std::string& name = module->global_vars[n]->name_hint;
      TILEWRIGHT_CHECK(func, "function {} of a lowered module is no PrimFunc", name);
      functions += CPrinter(unit, module, name, func).print();
    }
  }
  std::string text = "// Made by tilewright.\n";
  for (const std::string& header : unit.headers) text += "#include <" + header + ">\n";
  text += kHostTypes;
  if (unit.has_loop_hints) text += kLoopHints;
  for (const auto& [name, declaration] : unit.externs) text += declaration;
  text += "\n";
  if (!unit.imported.empty())
    text += "// what the program brought (pragma_import_c)\n" + unit.imported + "\n";
  for (const auto& [name, definition] : unit.helpers) text += definition;
  if (!unit.helpers.empty()) text += "\n";
  return text + functions;
}

std::string emit_c_exports(std::span<const std::string> names, std::string_view blob) {
  std::string lines;
  for (const std::string& name : names) lines += name + "\n";
  std::string text = "// What tilewright's loader looks for.\n";
  text +=
      fmt::format("const uint32_t {} = {};\n", TILEWRIGHT_ABI_VERSION_SYMBOL, TILEWRIGHT_KERNEL_ABI_VERSION);
  text += fmt::format("const TilewrightHost* {};\n", TILEWRIGHT_HOST_SYMBOL);
  text += array_of_text(TILEWRIGHT_NAMES_SYMBOL, lines);
  if (!blob.empty()) {
    text += fmt::format("const unsigned char {}[] = {};\n", TILEWRIGHT_BLOB_SYMBOL, bytes_literal(blob));
    text += fmt::format("const uint64_t {} = {};\n", TILEWRIGHT_BLOB_SIZE_SYMBOL, blob.size());
  }
  return text;
}

}  // namespace tilewright::codegen
