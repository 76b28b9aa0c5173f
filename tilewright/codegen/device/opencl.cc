// OpenCL C 1.2.  Its float16 is a type of memory only (cl_khr_fp16 is optional): values are the bits.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tilewright/codegen/device/printer.h"
#include "tilewright/support/error.h"
#include "tilewright/support/small_float.h"

namespace tilewright::codegen {
namespace {

constexpr std::string_view kName = "OpenCL C";

std::string opencl_type(DataType dtype) {
  if (dtype.is_bool()) return "bool";
  if (dtype.is_handle()) return "void*";
  if (dtype == kFloat32) return "float";
  if (dtype == DataType::float_(64)) return "double";
  const int bits = is_small_float(dtype) ? register_bits(dtype) : dtype.is_integral() ? dtype.bits : 0;
  const std::string sign = dtype.is_int() ? "" : "u";
  switch (bits) {
    case 8: return sign + "char";
    case 16: return sign + "short";
    case 32: return sign + "int";
    case 64: return sign + "long";
    default:
      throw Unsupported("{} has no values of dtype {}", kName, dtype.str())
          .help("integers of 8 to 64 bits, bool and floats can be used");
  }
}

constexpr Spelling kOpenCL = {"static inline", opencl_type, false, "{0} = as_uint({1})",
                              "{0} = as_float({1})"};

constexpr std::string_view kNarrowHalf = R"(// the bits of the nearest float16, ties to even
static inline ushort tw_float16_of_float32(float a) {
  ushort bits;
  vstore_half_rte(a, 0, (half*)&bits);
  return bits;
}
)";
constexpr std::string_view kWidenHalf = R"(// the number with these bits
static inline float tw_float32_of_float16(ushort a) { return vload_half(0, (const half*)&a); }
)";

class OpenCLPrinter final : public DevicePrinter {
 public:
  OpenCLPrinter(DeviceUnit& unit, const DeviceKernel& kernel)
      : DevicePrinter(unit, kernel, kOpenCL, kName, reserved()) {}

 private:
  static std::set<std::string, std::less<>> reserved() {
    std::set<std::string, std::less<>> names = {
        "barrier", "get_group_id", "get_local_id", "NAN",        "INFINITY",  "isnan", "isinf",  "isfinite",
        "min",     "max",          "abs",          "sampler_t",  "image2d_t", "main",  "M_PI",   "pipe",
        "uniform", "read_only",    "write_only",   "read_write", "ulong",     "uchar", "ushort", "NULL"};
    for (const char* type : {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float",
                             "double", "half", "vload", "vstore"}) {
      for (const char* lanes : {"2", "3", "4", "8", "16"}) names.insert(std::string(type) + lanes);
    }
    for (const char* name :
         {"exp",   "exp2",  "exp10", "log",   "log2",  "log10",    "log1p",    "sqrt", "rsqrt",
          "sin",   "cos",   "tan",   "asin",  "acos",  "atan",     "sinh",     "cosh", "tanh",
          "asinh", "acosh", "atanh", "erf",   "floor", "ceil",     "trunc",    "rint", "fabs",
          "pow",   "atan2", "fmod",  "hypot", "fma",   "copysign", "nextafter"})
      names.insert(name);
    return names;
  }

  std::string head(const std::vector<std::string>& params) const override {
    return fmt::format("__kernel __attribute__((reqd_work_group_size({}, {}, {})))\nvoid {}({}) {{",
                       shape().block[0], shape().block[1], shape().block[2], kernel().name,
                       fmt::join(params, ", "));
  }
  std::string param(const VarNode* var, const std::string& name, size_t) override {
    const bool is_exclusive = func_->attrs.get_bool("tir.noalias", false);
    if (var->dtype.is_handle()) return "__global " + declaration(var, name, is_exclusive ? "restrict " : "");
    return memory_type_name(var->dtype) + " " + name;  // a kernel has no parameters of type bool
  }
  std::string index_of(std::string_view tag) const override {
    const char* function = tag.starts_with("blockIdx") ? "get_group_id" : "get_local_id";
    return fmt::format("{}({})", function, tag.back() - 'x');
  }
  std::string address_space(const VarNode* data) const override {
    const std::string scope = scope_of(data);
    return scope == "global" ? "__global " : scope == "local" ? "" : "__local ";
  }
  std::string shared_array(std::string_view type, const std::string& name, int64_t count,
                           bool is_aligned) const override {
    return fmt::format("__local {} {}[{}]{};", type, name, count,
                       is_aligned ? " __attribute__((aligned(16)))" : "");
  }
  std::string block_barrier(bool of_global) const override {
    return of_global ? "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"
                     : "barrier(CLK_LOCAL_MEM_FENCE);";
  }
  std::string warp_barrier(const CallNode* node) const override {
    throw Unsupported(node, "{} has no barrier of a warp", kName)
        .help("use T.tvm_storage_sync(\"shared\") where all threads of a block reach it");
  }
  std::string shuffle(const CallNode* node, std::string_view) override {
    throw Unsupported(node, "{} has no warp shuffles: devices need no subgroups", kName)
        .help("exchange the values in shared memory");
  }
  std::string bit_cast(const std::string& value, DataType, DataType to) override {
    return fmt::format("as_{}({})", opencl_type(to), value);
  }
  const char* long_suffix() const override { return "L"; }

  Code cast(const CastNode* node) override {
    const DataType half = DataType::float_(16);
    if (node->value->dtype == half) helper("tw_float32_of_float16", std::string(kWidenHalf));
    if (node->dtype == half) helper("tw_float16_of_float32", std::string(kNarrowHalf));
    return DevicePrinter::cast(node);
  }

  // ---- vectors
  std::string vector_name(DataType dtype) const override {
    const bool has_lanes = dtype.lanes == 2 || dtype.lanes == 4 || dtype.lanes == 8 || dtype.lanes == 16;
    if (!has_lanes || dtype.element().num_bytes() * dtype.lanes > 16) return "";
    return memory_type_name(dtype.element()) + std::to_string(dtype.lanes);
  }
  std::string lane_text(const std::string& name, DataType dtype, int lane) const override {
    if (dtype.lanes <= 4) return fmt::format("{}.{}", name, "xyzw"[lane]);
    return fmt::format("{}.s{:x}", name, lane);
  }
  std::string make_vector(DataType dtype, const std::vector<std::string>& lanes) const override {
    return fmt::format("({})({})", type_name(dtype), fmt::join(lanes, ", "));
  }
  std::string load_vector(const VarNode*, const std::string& place, DataType dtype) override {
    return fmt::format("vload{}(0, &{})", dtype.lanes, place);
  }
  std::string store_vector(const VarNode*, const std::string& place, DataType dtype,
                           const std::string& value) override {
    return fmt::format("vstore{}({}, 0, &{});", dtype.lanes, value, place);
  }
  bool needs_alignment() const override { return false; }
};

}  // namespace

std::unique_ptr<DevicePrinter> opencl_printer(DeviceUnit& unit, const DeviceKernel& kernel) {
  return std::make_unique<OpenCLPrinter>(unit, kernel);
}

std::string opencl_prologue(std::string_view text) {
  return has_word(text, "double") || has_word(text, "double2")
             ? "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n\n"
             : "";
}

}  // namespace tilewright::codegen
