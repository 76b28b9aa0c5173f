// CUDA C, for nvcc and NVRTC.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tilewright/codegen/device/cuda_instructions.h"
#include "tilewright/codegen/device/printer.h"
#include "tilewright/support/error.h"
#include "tilewright/support/one_of.h"
#include "tilewright/support/small_float.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/pointer_use.h"

namespace tilewright::codegen {
namespace {

constexpr std::string_view kName = "CUDA C";

std::string cuda_type(DataType dtype) {
  if (dtype.is_bool()) return "bool";
  if (dtype.is_handle()) return "void*";
  if (dtype == kFloat32) return "float";
  if (dtype == DataType::float_(64)) return "double";
  if (dtype == DataType::float_(16)) return "half";
  const int bits = is_small_float(dtype) ? register_bits(dtype) : dtype.is_integral() ? dtype.bits : 0;
  const bool is_unsigned = !dtype.is_int();
  switch (bits) {
    case 8: return is_unsigned ? "unsigned char" : "signed char";
    case 16: return is_unsigned ? "unsigned short" : "short";
    case 32: return is_unsigned ? "unsigned" : "int";
    case 64: return is_unsigned ? "unsigned long long" : "long long";
    default:
      throw Unsupported("{} has no values of dtype {}", kName, dtype.str())
          .help("integers of 8 to 64 bits, bool and floats can be used");
  }
}

constexpr Spelling kCuda = {"static __device__ __forceinline__", cuda_type, true,
                            "{0} = __float_as_uint({1})", "{0} = __uint_as_float({1})"};

// "float" of float4; empty if CUDA has no such type
std::string native_vector(DataType dtype) {
  if (dtype.lanes != 2 && dtype.lanes != 4) return "";
  const DataType element = dtype.element();
  if (element == DataType::float_(16)) return dtype.lanes == 2 ? "half" : "";
  if (element == kFloat32) return "float";
  if (element == DataType::float_(64)) return dtype.lanes == 2 ? "double" : "";
  if (!element.is_integral() && !element.is_bool() && !is_small_float(element)) return "";
  const bool is_unsigned = !element.is_int();
  switch (element.is_integral() || element.is_bool() ? element.bits : register_bits(element)) {
    case 8: return is_unsigned ? "uchar" : "char";
    case 16: return is_unsigned ? "ushort" : "short";
    case 32: return is_unsigned ? "uint" : "int";
    default: return dtype.lanes != 2 ? "" : is_unsigned ? "ulonglong" : "longlong";
  }
}

class CudaPrinter final : public DevicePrinter {
 public:
  CudaPrinter(DeviceUnit& unit, const DeviceKernel& kernel)
      : DevicePrinter(
            unit, kernel, kCuda, kName,
            {"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "NAN",    "INFINITY", "isnan",
             "isinf",     "isfinite", "min",      "max",     "abs",      "float2", "float4",   "double2",
             "int2",      "int4",     "uint2",    "uint4",   "half2",    "dim3",   "main",     "NULL"}) {}

 private:
  std::string head(const std::vector<std::string>& params) const override {
    return fmt::format("extern \"C\" __global__ void __launch_bounds__({}) {}({}) {{", shape().num_threads(),
                       kernel().name, fmt::join(params, ", "));
  }
  std::string param(const VarNode* var, const std::string& name, size_t) override {
    const bool is_exclusive = func_->attrs.get_bool("tir.noalias", false);
    if (var->dtype.is_handle()) return declaration(var, name, is_exclusive ? "__restrict__ " : "");
    return memory_type_name(var->dtype) + " " + name;
  }
  std::string shared_array(std::string_view type, const std::string& name, int64_t count,
                           bool is_aligned) const override {
    return fmt::format("__shared__ {}{} {}[{}];", is_aligned ? "__align__(16) " : "", type, name, count);
  }
  std::string alignment(int bytes) const override { return fmt::format("__align__({}) ", bytes); }
  // one array for all kernels of a unit, which must agree about its type
  std::string dynamic_array(std::string_view type, const std::string& name, int64_t count) const override {
    return fmt::format(
        "extern __shared__ __align__(16) unsigned char tw_dynamic_shared[];  // {2} elements\n"
        "{0}* {1} = ({0}*)tw_dynamic_shared;",
        type, name, count);
  }
  std::string block_barrier(bool) const override { return "__syncthreads();"; }
  std::string warp_barrier(const CallNode*) const override { return "__syncwarp();"; }
  std::string shuffle(const CallNode* node, std::string_view which) override {
    int64_t lanes = 0;
    const std::string mask = as_const_int(node->args[0], &lanes)
                                 ? fmt::format("{:#x}U", static_cast<uint32_t>(lanes))
                                 : text(node->args[0]);
    const std::string value = text(node->args[1]), lane = text(node->args[2]);
    const bool is_of_all = as_const_int(node->args[3], &lanes) && lanes == 32;
    const std::string width = is_of_all ? "" : ", " + text(node->args[3]);
    return fmt::format("__shfl{}_sync({}, {}, {}{})", which, mask, value, lane, width);
  }
  std::string active_mask() const override { return "__activemask()"; }
  std::string bit_cast(const std::string& value, DataType from, DataType to) override {
    const auto is_single = [](DataType dtype) { return dtype == kFloat32; };
    const auto is_double = [](DataType dtype) { return dtype == DataType::float_(64); };
    const auto is_half = [](DataType dtype) { return dtype == DataType::float_(16); };
    const std::string result = fmt::format("({})", cuda_type(to));
    if (is_single(from)) return fmt::format("{}__float_as_uint({})", result, value);
    if (is_double(from)) return fmt::format("{}__double_as_longlong({})", result, value);
    if (is_half(from)) return fmt::format("{}__half_as_ushort({})", result, value);
    if (is_single(to)) return fmt::format("__uint_as_float({})", value);
    if (is_double(to)) return fmt::format("__longlong_as_double({})", value);
    if (is_half(to)) return fmt::format("__ushort_as_half({})", value);
    return fmt::format("({}({}))", result, value);
  }

  // ---- instructions
  std::string named(const NamedFunction& function) { return helper(function.name, function.text); }
  // "&A[i]": a pointer to elements of `dtype`, and an offset in elements
  std::string pointer(const CallNode* node, size_t n, DataType dtype) {
    const auto* var = node->args[n].as<VarNode>();
    const BufferLoadNode* place = pointed_to(node->args[n]);
    if (place && place->buffer->dtype == dtype && is_zero(node->args[n + 1])) return text(node->args[n]);
    const std::string base = text(node->args[n], Level::kPrefix),
                      offset = index_text(node->args[n + 1], Level::kSum);
    if (var && pointee(var) == dtype) return fmt::format("&{}[{}]", base, offset);
    return fmt::format("({}*){} + {}", memory_type_name(dtype), base, offset);
  }
  int64_t constant(const CallNode* node, size_t n, std::string_view what) {
    int64_t value = 0;
    if (!as_const_int(node->args[n], &value))
      throw Unsupported(node, "{} is no constant, which {} asks for", what, kName);
    return value;
  }
  // Functions of libdevice, which every CUDA C compiler links, have no header.
  void declare_libdevice(const CallNode* node) {
    const auto* function = node->args.empty() ? nullptr : node->args[0].as<StringImmNode>();
    if (!function || !function->value.starts_with("__nv_")) return;
    const auto name_of = [&](DataType dtype) {
      if (!is_one_of(dtype.str(), {"int32", "int64", "float32", "float64"}))
        throw UserError(node, "{}: dtype {} is none of a function of libdevice", function->value, dtype.str())
            .help("cast to float32, float64, int32 or int64");
      return type_name(dtype);
    };
    std::vector<std::string> types;
    for (size_t n = 1; n < node->args.size(); ++n) types.push_back(name_of(node->args[n]->dtype));
    helper(function->value, fmt::format("extern \"C\" __device__ {} {}({});\n", name_of(node->dtype),
                                        function->value, fmt::join(types, ", ")));
  }
  bool own_call(const CallNode* node, std::string_view name, Code* code) override {
    if (is_one_of(name, {"call_extern", "call_pure_extern"})) declare_libdevice(node);
    const DataType element = node->dtype.element();
    const size_t count = node->args.size();
    if (name == "ptx_cp_async" && (count == 5 || count == 6)) {
      const int64_t bytes = constant(node, 4, "the number of bytes of an asynchronous copy");
      if (!is_one_of(std::to_string(bytes), {"4", "8", "16"}))
        throw UserError(node, "an asynchronous copy has 4, 8 or 16 bytes, not {}", bytes);
      const std::string condition = count == 6 ? ", " + text(node->args[5]) : "";
      code->text = fmt::format("{}({}, {}{})", named(cp_async_function(bytes, count == 6)),
                               pointer(node, 0, element), pointer(node, 2, element), condition);
    } else if (name == "ptx_commit_group") {
      code->text = named(cp_commit_function()) + "()";
    } else if (name == "ptx_wait_group" && count == 1) {
      code->text =
          fmt::format("{}<{}>()", named(cp_wait_function()), constant(node, 0, "the number of open groups"));
    } else if (name == "ptx_ldmatrix" && count == 7) {
      const int64_t matrices = constant(node, 1, "the number of matrices");
      if (!is_one_of(std::to_string(matrices), {"1", "2", "4"}))
        throw UserError(node, "ptx_ldmatrix reads 1, 2 or 4 matrices, not {}", matrices);
      code->text = fmt::format("{}({}, {})", named(ldmatrix_function(matrices, !is_zero(node->args[0]))),
                               pointer(node, 3, element), pointer(node, 5, element));
    } else if (name == "ptx_mma") {
      const std::string function = named(mma_function(node));
      code->text = fmt::format("{}({}, {}, {})", function, pointer(node, 10, mma_dtype(node, 2)),
                               pointer(node, 6, mma_dtype(node, 0)), pointer(node, 8, mma_dtype(node, 1)));
    } else if (name == "mma_fill" && count == 3) {
      const std::string to = pointer(node, 1, element);
      const std::string n = names_.declare("n");
      line("#pragma unroll");
      line(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) ({2})[{0}] = 0;", n, text(node->args[0]), to));
      names_.take_back();
    } else if (name == "mma_store" && count == 6) {
      store_sums(node, element);
    } else {
      return false;
    }
    return true;
  }
  // The accumulators of 16 x 8 matrices side by side (PTX ISA, "Matrix fragments for mma.m16n8k16").
  void store_sums(const CallNode* node, DataType element) {
    const std::string type = memory_type_name(element), from = pointer(node, 3, element);
    const std::string to = text(node->args[2], Level::kPrefix), stride = text(node->args[5], Level::kProduct);
    const std::string columns = text(node->args[1], Level::kProduct);
    open("{");
    const std::string lane = names_.declare("lane"), n = names_.declare("n");
    line(fmt::format(
        "const int {} = (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;", lane));
    line("#pragma unroll");
    open(fmt::format("for (int {0} = 0; {0} < {1} / 2; ++{0}) {{", n, columns));
    line(fmt::format(
        "(({0}*){1})[({2} / 4 + {3} % 4 / 2 * 8) * {4} + {3} / 4 * 8 + {2} % 4 * 2 + {3} % 2] = ({5})[{3}];",
        type, to, lane, n, stride, from));
    close();
    close();
  }

  // ---- vectors
  std::string vector_name(DataType dtype) const override {
    if (const std::string native = native_vector(dtype); !native.empty())
      return native + std::to_string(dtype.lanes);
    const int64_t bytes = dtype.element().num_bytes() * dtype.lanes;
    const bool is_power = dtype.lanes == 4 || dtype.lanes == 8 || dtype.lanes == 16;
    return is_power && bytes <= 16 ? fmt::format("tw_{}x{}", dtype.element().str(), dtype.lanes) : "";
  }
  std::string type_name(DataType dtype) const override {
    const std::string name = DevicePrinter::type_name(dtype);
    if (name.starts_with("tw_"))
      structs().helper(name, fmt::format("struct __align__({}) {} {{\n  {} lane[{}];\n}};\n",
                                         dtype.element().num_bytes() * dtype.lanes, name,
                                         memory_type_name(dtype.element()), dtype.lanes));
    return name;
  }
  std::string lane_text(const std::string& name, DataType dtype, int lane) const override {
    if (native_vector(dtype).empty()) return fmt::format("{}.lane[{}]", name, lane);
    return fmt::format("{}.{}", name, "xyzw"[lane]);
  }
  std::string make_vector(DataType dtype, const std::vector<std::string>& lanes) const override {
    const std::string name = type_name(dtype);
    const bool is_ours = native_vector(dtype).empty();
    if (!is_ours) return fmt::format("make_{}({})", name, fmt::join(lanes, ", "));
    return fmt::format("{}{{{{{}}}}}", name, fmt::join(lanes, ", "));
  }
  std::string load_vector(const VarNode* data, const std::string& place, DataType dtype) override {
    return fmt::format("*({}{}*)&{}", is_written(data) ? "" : "const ", type_name(dtype), place);
  }
  std::string store_vector(const VarNode*, const std::string& place, DataType dtype,
                           const std::string& value) override {
    return fmt::format("*({}*)&{} = {};", type_name(dtype), place, value);
  }
  // a definition is added to the unit, not to the printer
  CudaPrinter& structs() const { return const_cast<CudaPrinter&>(*this); }
};

}  // namespace

std::unique_ptr<DevicePrinter> cuda_printer(DeviceUnit& unit, const DeviceKernel& kernel) {
  return std::make_unique<CudaPrinter>(unit, kernel);
}

std::string cuda_prologue(std::string_view text) {
  return has_word(text, "half") || has_word(text, "half2") ? "#include <cuda_fp16.h>\n\n" : "";
}

}  // namespace tilewright::codegen
