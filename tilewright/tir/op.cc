#include "tilewright/tir/op.h"

#include "tilewright/support/near.h"
#include "tilewright/support/one_of.h"
#include "tilewright/tir/registered_op.h"
#include "tilewright/tir/tir.h"

namespace tilewright::tir {

constexpr Effect kP = Effect::kPure;
constexpr Effect kO = Effect::kOpaque;

constinit const BuiltinOp kBuiltinOps[] = {
    // math, lane by lane
    {"exp", 1, kP, true, "e to the x"},
    {"exp2", 1, kP, true, "2 to the x"},
    {"exp10", 1, kP, true, "10 to the x"},
    {"log", 1, kP, true, "natural logarithm"},
    {"log2", 1, kP, true, "logarithm to base 2"},
    {"log10", 1, kP, true, "logarithm to base 10"},
    {"log1p", 1, kP, true, "log(1 + x)"},
    {"sqrt", 1, kP, true, "square root"},
    {"rsqrt", 1, kP, true, "1 / sqrt(x)"},
    {"sin", 1, kP, true, "sine"},
    {"cos", 1, kP, true, "cosine"},
    {"tan", 1, kP, true, "tangent"},
    {"asin", 1, kP, true, "inverse sine"},
    {"acos", 1, kP, true, "inverse cosine"},
    {"atan", 1, kP, true, "inverse tangent"},
    {"sinh", 1, kP, true, "hyperbolic sine"},
    {"cosh", 1, kP, true, "hyperbolic cosine"},
    {"tanh", 1, kP, true, "hyperbolic tangent"},
    {"asinh", 1, kP, true, "inverse hyperbolic sine"},
    {"acosh", 1, kP, true, "inverse hyperbolic cosine"},
    {"atanh", 1, kP, true, "inverse hyperbolic tangent"},
    {"sigmoid", 1, kP, true, "1 / (1 + exp(-x))"},
    {"erf", 1, kP, true, "error function"},
    {"floor", 1, kP, true, "largest integer <= x"},
    {"ceil", 1, kP, true, "smallest integer >= x"},
    {"trunc", 1, kP, true, "towards zero"},
    {"round", 1, kP, true, "to nearest, ties to even"},
    {"nearbyint", 1, kP, true, "to nearest, ties to even"},
    {"fabs", 1, kP, true, "absolute value of a float"},
    {"abs", 1, kP, true, "absolute value"},
    {"isnan", 1, kP, false, "bool: x is NaN"},
    {"isinf", 1, kP, false, "bool: x is infinite"},
    {"isfinite", 1, kP, false, "bool: x is neither"},
    {"popcount", 1, kP, true, "number of one bits"},
    {"clz", 1, kP, false, "leading zero bits, int32"},
    {"pow", 2, kP, true, "x to the y; of integers exact, and wraps around"},
    {"atan2", 2, kP, true, "angle of (y, x)"},
    {"fmod", 2, kP, true, "remainder with the sign of x"},
    {"hypot", 2, kP, true, "sqrt(x * x + y * y)"},
    {"copysign", 2, kP, true, "magnitude of x, sign of y"},
    {"nextafter", 2, kP, true, "next value after x towards y"},
    {"ldexp", 2, kP, true, "x * 2 ** y"},
    {"fma", 3, kP, true, "x * y + z, rounded once"},
    {"bitwise_and", 2, kP, true, "x & y"},
    {"bitwise_or", 2, kP, true, "x | y"},
    {"bitwise_xor", 2, kP, true, "x ^ y"},
    {"bitwise_not", 1, kP, true, "~x"},
    {"shift_left", 2, kP, true, "x << y"},
    {"shift_right", 2, kP, true, "x >> y, arithmetic for signed x"},
    {"q_multiply_shift", 4, kP, true, "(x * y) >> (q + s) with rounding, fixed point"},
    // control and constants
    {"if_then_else", 3, kP, false, "the second or third argument; only the chosen one is evaluated"},
    {"likely", 1, kP, true, "the condition is usually true"},
    {"assume", 1, Effect::kReadsState, false, "the condition holds; the compiler may rely on it"},
    {"undef", 0, Effect::kReadsState, false, "any value"},
    {"reinterpret", 1, kP, false, "the bits of x as another dtype of equal size"},
    {"vscale", 0, kP, false, "how many times a scalable vector is its minimum, int32"},
    {"large_uint_imm", 2, kP, false, "an unsigned literal above 2**63, from its low and high 32 bits"},
    {"isnullptr", 1, kP, false, "bool: the pointer is null"},
    {"ret", 1, Effect::kControl, false, "return from the function"},
    {"break_loop", 0, Effect::kControl, false, "leave the innermost loop"},
    {"continue_loop", 0, Effect::kControl, false, "next iteration of the innermost loop"},
    // memory and calls
    {"address_of", 1, kP, false, "pointer to a buffer element"},
    {"type_annotation", 0, kP, false, "stands for the dtype of the call"},
    {"tvm_access_ptr", 5, Effect::kReadsState, false,
     "pointer into a buffer: type, data, offset, extent, access mask"},
    {"prefetch", -1, kO, false, "bring a cache line: buffer element, read or write (0/1), locality 0..3"},
    {"call_extern", -1, kO, false, "call a C function: name, arguments"},
    {"call_pure_extern", -1, kP, false, "call a C function without side effect: name, arguments"},
    {"call_packed", -1, kO, false, "call a function of the run-time registry: name, arguments"},
    {"call_cpacked", -1, kO, false, "as call_packed, with the C convention"},
    {"call_llvm_intrin", -1, kO, false, "call an LLVM intrinsic: name, arguments"},
    {"call_llvm_pure_intrin", -1, kP, false, "call an LLVM intrinsic without side effect"},
    {"tvm_stack_alloca", 2, kO, false, "argument memory: kind, count"},
    {"tvm_storage_sync", -1, kO, false, "barrier: \"shared\", \"warp\" or \"global\""},
    {"tvm_thread_allreduce", -1, kO, false, "reduce over the threads of a block"},
    {"tvm_warp_shuffle", 5, kO, false, "value of another lane"},
    {"tvm_thread_invariant", 1, kP, true, "the value is the same in all threads"},
    {"vectorlow", 1, kP, false, "the first half of the lanes"},
    {"vectorhigh", 1, kP, false, "the second half of the lanes"},
    {"vectorcombine", 2, kP, false, "both arguments' lanes"},
    {"dp4a", 3, kP, false, "dot product of four int8 pairs added to int32"},
    {"dot_add", 3, kP, false, "lane n: sum[n] + the products of group n of two vectors (tir/dot_add.h)"},
    {"get_active_lane_mask", 2, kP, false, "bool lanes: base + lane < limit"},
    {"q_multiply_shift_per_axis", 7, kP, true, "as q_multiply_shift, with shifts on both sides"},
    {"tvm_warp_shuffle_up", 5, kO, false, "value of a lower lane"},
    {"tvm_warp_shuffle_down", 5, kO, false, "value of a higher lane"},
    {"tvm_warp_shuffle_xor", 5, kO, false, "value of the lane whose number differs in these bits"},
    {"tvm_warp_activemask", 0, kO, false, "mask of the lanes that run, uint32"},
    // calls of packed functions as TVM lowers them, and its GPU instructions: text and types only
    {"tvm_stack_make_shape", -1, kO, false, "a shape in argument memory"},
    {"tvm_stack_make_array", 6, kO, false, "a tensor in argument memory"},
    {"tvm_struct_get", 3, Effect::kReadsState, false, "a field of a tensor: pointer, index, field"},
    {"tvm_struct_set", 4, Effect::kUpdatesState, false, "sets a field: pointer, index, field, value"},
    {"lookup_param", 1, Effect::kReadsState, false, "a parameter of the model by name"},
    {"tvm_load_matrix_sync", 8, kO, false, "loads a matrix fragment"},
    {"tvm_store_matrix_sync", 8, kO, false, "stores a matrix fragment"},
    {"tvm_mma_sync", 8, kO, false, "multiplies matrix fragments"},
    {"tvm_fill_fragment", 6, kO, false, "fills a matrix fragment"},
    {"ptx_mma", -1, kO, false, "mma instruction"},
    {"ptx_ldmatrix", -1, kO, false, "ldmatrix instruction"},
    {"ptx_cp_async", -1, kO, false, "asynchronous copy to shared memory"},
    {"ptx_commit_group", 0, kO, false, "closes a group of asynchronous copies"},
    {"ptx_wait_group", 1, kO, false, "waits until at most so many groups are open"},
    {"mma_fill", 3, kO, false, "fills the registers of an mma accumulator"},
    {"mma_store", 6, kO, false, "stores the registers of an mma accumulator"},
    // arguments, errors and parallel loops after lowering
    {"peek", 2, Effect::kReadsState, false, "the value in memory at pointer + byte offset"},
    {"poke", 3, Effect::kUpdatesState, false, "puts a value into memory: pointer, byte offset, value"},
    {"raise_error", -1, Effect::kControl, false,
     "reports an error and returns -1: kind, printf format, its values"},
    {"dtype_text", 1, kP, false, "the name of a dtype, from the 32 bits of its DLDataType"},
    {"call_parallel", -1, kO, false,
     "runs a lowered function over ranges of 0 .. extent-1: its name, extent, grain, arguments"},
    {"start_profile_intrinsic", 1, kO, false, "beginning of a measured range"},
    {"end_profile_intrinsic", 1, kO, false, "end of a measured range"},
};
constinit const size_t kNumBuiltinOps = sizeof(kBuiltinOps) / sizeof(*kBuiltinOps);

const BuiltinOp* find_builtin(std::string_view name) {
  if (name.starts_with("tir.")) name.remove_prefix(4);
  for (const BuiltinOp& op : kBuiltinOps) {
    if (op.name == name) return &op;
  }
  return nullptr;
}

Op find_op(std::string_view name) {
  const BuiltinOp* builtin = find_builtin(name);
  if (!builtin) builtin = find_registered_op(name);
  if (!builtin) {
    std::vector<std::string_view> names;
    for (const BuiltinOp& op : kBuiltinOps) names.push_back(op.name);
    std::string_view short_name = name;
    if (short_name.starts_with("tir.")) short_name.remove_prefix(4);
    throw UserError("there is no TIR operator \"{}\"", name)
        .help("{}", nearest_names_text(short_name, names));
  }
  return OpNode::make("tir." + std::string(builtin->name));
}

bool has_leading_dtype(std::string_view name) {
  return is_one_of(
      name, {"call_extern", "call_pure_extern", "call_llvm_intrin", "call_llvm_pure_intrin", "reinterpret",
             "vectorlow", "vectorhigh", "vectorcombine", "large_uint_imm", "undef", "peek",
             "get_active_lane_mask", "ptx_mma", "ptx_ldmatrix", "ptx_cp_async", "mma_fill", "mma_store"});
}

std::optional<DataType> result_dtype(const BuiltinOp& op, std::span<const PrimExpr> args) {
  const std::string_view name = op.name;
  const DataType first = args.empty() ? kInt32 : args[0]->dtype;
  if (op.elementwise) return first;
  if (is_one_of(name, {"isnan", "isinf", "isfinite", "isnullptr"})) return DataType::bool_(first.lanes);
  if (name == "assume") return kBoolType;
  if (name == "if_then_else" && args.size() == 3) return args[1]->dtype;
  if (is_one_of(name,
                {"address_of", "tvm_access_ptr", "tvm_stack_alloca", "tvm_thread_allreduce", "dtype_text"}))
    return DataType::handle();
  if (is_one_of(name, {"ret", "dot_add"})) return first;
  if (name == "clz") return kInt32.with_lanes(first.lanes);
  if (name.starts_with("tvm_warp_shuffle") && args.size() > 1) return args[1]->dtype;
  if (name == "tvm_warp_activemask") return DataType::uint(32);
  if (is_one_of(name, {"tvm_stack_make_shape", "tvm_stack_make_array", "tvm_load_matrix_sync", "tvm_mma_sync",
                       "tvm_store_matrix_sync", "tvm_fill_fragment", "lookup_param"}))
    return DataType::handle();
  if (has_leading_dtype(name) || !find_builtin(name)) return std::nullopt;
  return kInt32;
}

bool is_pure(const Expr& callee) {
  const auto* node = callee.as<OpNode>();
  const BuiltinOp* op = node ? find_builtin(node->name) : nullptr;
  if (node && !op) op = find_registered_op(node->name);
  return op && op->effect == Effect::kPure;
}

bool is_call_of(const CallNode* call, std::string_view name) {
  const auto* op = call ? call->op.as<ir::OpNode>() : nullptr;
  return op && op->name == name;
}

bool is_if_then_else(const CallNode* call) { return is_call_of(call, "tir.if_then_else"); }

}  // namespace tilewright::tir
