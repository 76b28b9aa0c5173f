// Metal.  It has no double; math functions are those of metal::precise, since others may take values to be numbers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tilewright/codegen/device/printer.h"
#include "tilewright/support/error.h"
#include "tilewright/support/one_of.h"
#include "tilewright/support/small_float.h"

namespace tilewright::codegen {
namespace {

constexpr std::string_view kName = "Metal";

std::string metal_type(DataType dtype) {
  if (dtype.is_bool()) return "bool";
  if (dtype.is_handle()) return "device void*";
  if (dtype == kFloat32) return "float";
  if (dtype == DataType::float_(16)) return "half";
  if (dtype == DataType::float_(64))
    throw Unsupported("{} has no values of dtype float64", kName).help("cast to float32 before the kernel");
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

constexpr Spelling kMetal = {"static inline", metal_type, false, "{0} = as_type<uint>({1})",
                             "{0} = as_type<float>({1})"};

// exact near 0, where 1 + a is rounded (Higham 2002, 1.14.1)
constexpr std::string_view kLog1p = R"(static inline float tw_log1p_float32(float a) {
  const float sum = 1.0f + a, rest = sum - 1.0f;
  return rest == 0.0f || isinf(sum) ? a : precise::log(sum) * (a / rest);
}
)";
constexpr std::string_view kHypot = R"(static inline float tw_hypot_float32(float a, float b) {
  const float most = max(fabs(a), fabs(b)), least = min(fabs(a), fabs(b));
  if (most == 0.0f || isinf(most)) return most;
  const float ratio = least / most;
  return most * precise::sqrt(1.0f + ratio * ratio);
}
)";

class MetalPrinter final : public DevicePrinter {
 public:
  MetalPrinter(DeviceUnit& unit, const DeviceKernel& kernel)
      : DevicePrinter(
            unit, kernel, kMetal, kName,
            {"blockIdx", "threadIdx", "metal", "vertex", "fragment", "threadgroup", "uint3",    "float2",
             "float4",   "half2",     "half4", "int2",   "int4",     "NAN",         "INFINITY", "isnan",
             "isinf",    "isfinite",  "min",   "max",    "abs",      "precise",     "main",     "ushort",
             "uchar",    "ulong",     "fma",   "floor",  "ceil",     "trunc",       "rint",     "copysign",
             "fabs",     "bool2",     "bool4", "NULL"}) {}

 private:
  std::string head(const std::vector<std::string>& params) const override {
    std::vector<std::string> all = params;
    all.push_back("uint3 blockIdx [[threadgroup_position_in_grid]]");
    all.push_back("uint3 threadIdx [[thread_position_in_threadgroup]]");
    return fmt::format("[[max_total_threads_per_threadgroup({})]]\nkernel void {}(\n    {}) {{",
                       shape().num_threads(), kernel().name, fmt::join(all, ",\n    "));
  }
  std::string param(const VarNode* var, const std::string& name, size_t position) override {
    const std::string text = var->dtype.is_handle()
                                 ? "device " + declaration(var, name, "")
                                 : fmt::format("constant {}& {}", memory_type_name(var->dtype), name);
    return fmt::format("{} [[buffer({})]]", text, position);
  }
  std::string address_space(const VarNode* data) const override {
    const std::string scope = scope_of(data);
    return scope == "global" ? "device " : scope == "local" ? "thread " : "threadgroup ";
  }
  std::string shared_array(std::string_view type, const std::string& name, int64_t count,
                           bool is_aligned) const override {
    return fmt::format("{}threadgroup {} {}[{}];", is_aligned ? "alignas(16) " : "", type, name, count);
  }
  std::string block_barrier(bool of_global) const override {
    return of_global ? "threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);"
                     : "threadgroup_barrier(mem_flags::mem_threadgroup);";
  }
  std::string warp_barrier(const CallNode*) const override {
    return "simdgroup_barrier(mem_flags::mem_threadgroup);";
  }
  std::string shuffle(const CallNode* node, std::string_view which) override {
    const std::string value = text(node->args[1]);
    return fmt::format("simd_shuffle{}({}, {})", which, value, text(node->args[2]));
  }
  std::string bit_cast(const std::string& value, DataType, DataType to) override {
    return fmt::format("as_type<{}>({})", metal_type(to), value);
  }
  const char* long_suffix() const override { return "L"; }

  std::string math_name(std::string_view op, DataType dtype) override {
    if (op == "erf") return polynomial("erf");
    if (op == "log1p") return helper("tw_log1p_float32", std::string(kLog1p));
    if (op == "hypot") return helper("tw_hypot_float32", std::string(kHypot));
    const std::string name = DevicePrinter::math_name(op, dtype);
    const bool is_exact =
        is_one_of(name, {"floor", "ceil", "trunc", "rint", "fabs", "fma", "copysign", "nextafter"});
    return is_exact || name.empty() ? name : "precise::" + name;
  }

  // ---- vectors
  std::string vector_name(DataType dtype) const override {
    const bool has_lanes = dtype.lanes == 2 || dtype.lanes == 4;
    if (!has_lanes || dtype.element().num_bytes() > 4) return "";
    return memory_type_name(dtype.element()) + std::to_string(dtype.lanes);
  }
  std::string lane_text(const std::string& name, DataType, int lane) const override {
    return fmt::format("{}.{}", name, "xyzw"[lane]);
  }
  std::string make_vector(DataType dtype, const std::vector<std::string>& lanes) const override {
    return fmt::format("{}({})", type_name(dtype), fmt::join(lanes, ", "));
  }
  std::string pointer(const VarNode* data, DataType dtype) const {
    return fmt::format("{}{}packed_{}*", address_space(data), is_written(data) ? "" : "const ",
                       type_name(dtype));
  }
  std::string load_vector(const VarNode* data, const std::string& place, DataType dtype) override {
    return fmt::format("{}(*({})&{})", type_name(dtype), pointer(data, dtype), place);
  }
  std::string store_vector(const VarNode* data, const std::string& place, DataType dtype,
                           const std::string& value) override {
    return fmt::format("*({})&{} = {};", pointer(data, dtype), place, value);
  }
  bool needs_alignment() const override { return false; }
};

}  // namespace

std::unique_ptr<DevicePrinter> metal_printer(DeviceUnit& unit, const DeviceKernel& kernel) {
  return std::make_unique<MetalPrinter>(unit, kernel);
}

std::string metal_prologue(std::string_view) { return "#include <metal_stdlib>\nusing namespace metal;\n\n"; }

}  // namespace tilewright::codegen
