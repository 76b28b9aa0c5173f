#include "tilewright/codegen/device/cuda_instructions.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"

namespace tilewright::codegen {
namespace {
using tir::CallNode;

constexpr std::string_view kFunction = "static __device__ __forceinline__ void ";

NamedFunction named(std::string name, std::string_view comment, std::string_view definition) {
  return {std::move(name),
          fmt::format("#ifndef TILEWRIGHT_CUDA_EMULATION\n// {}\n{}\n#endif\n", comment, definition)};
}

// "{%2, %3}"
std::string registers(int first, int count) {
  std::string text = "{";
  for (int n = 0; n < count; ++n) text += fmt::format("{}%{}", n ? ", " : "", first + n);
  return text + "}";
}

// "\"r\"(a[0]), \"r\"(a[1])"
std::string operands(std::string_view kind, std::string_view array, int count) {
  std::string text;
  for (int n = 0; n < count; ++n) text += fmt::format("{}\"{}\"({}[{}])", n ? ", " : "", kind, array, n);
  return text;
}

// ---- products

struct ElementType {
  std::string_view name;  // as programs say it
  std::string_view ptx;
  std::string_view dtype;  // in memory
};
constexpr ElementType kElements[] = {
    {"fp16", "f16", "float16"},       {"float16", "f16", "float16"},     {"bf16", "bf16", "bfloat16"},
    {"bfloat16", "bf16", "bfloat16"}, {"tf32", "tf32", "float32"},       {"int8", "s8", "int8"},
    {"uint8", "u8", "uint8"},         {"e4m3", "e4m3", "float8_e4m3fn"}, {"e5m2", "e5m2", "float8_e5m2"},
    {"fp32", "f32", "float32"},       {"float32", "f32", "float32"},     {"int32", "s32", "int32"},
};

std::string_view text_of(const CallNode* call, size_t n) {
  const auto* literal = call->args[n].as<tir::StringImmNode>();
  return literal ? std::string_view(literal->value) : std::string_view();
}

const ElementType* element_of(const CallNode* call, int operand) {
  if (call->args.size() != 13) return nullptr;
  const std::string_view name = text_of(call, static_cast<size_t>(3 + operand));
  const auto* found = std::find_if(std::begin(kElements), std::end(kElements),
                                   [&](const ElementType& each) { return each.name == name; });
  return found == std::end(kElements) ? nullptr : found;
}

// Columns of A; 0 for shapes that are not known.
int64_t columns_of(std::string_view shape) {
  for (const auto& [name, k] :
       {std::pair{"m16n8k4", 4}, {"m16n8k8", 8}, {"m16n8k16", 16}, {"m16n8k32", 32}}) {
    if (shape == name) return k;
  }
  return 0;
}

[[noreturn]] void refuse(const CallNode* call) {
  std::string what;
  for (size_t n = 0; n < std::min<size_t>(call->args.size(), 6); ++n)
    what += fmt::format(" {}", text_of(call, n));
  throw Unsupported(call, "this product is not supported in CUDA C:{}", what)
      .help("m16n8k16 of fp16 or bf16, m16n8k8 of tf32, m16n8k32 of int8, e4m3 and e5m2 can be used");
}

}  // namespace

NamedFunction cp_async_function(int64_t num_bytes, bool has_condition) {
  const std::string name = fmt::format("tw_cp_async{}{}", num_bytes, has_condition ? "_if" : "");
  const char* type = num_bytes == 16 ? "int4" : num_bytes == 8 ? "int2" : "int";
  const std::string source = has_condition ? fmt::format("condition ? *(const {0}*)from : {0}()", type)
                                           : fmt::format("*(const {}*)from", type);
  return named(
      name,
      fmt::format("begins a copy of {} bytes to shared memory; GPUs before sm_80 copy at once", num_bytes),
      fmt::format(R"({}{}(void* to, const void* from{}) {{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.{}.shared.global [%0], [%1], {}{};" ::"r"((unsigned)__cvta_generic_to_shared(to)),
               "l"(from){}
               : "memory");
#else
  *({}*)to = {};
#endif
}})",
                  kFunction, name, has_condition ? ", bool condition" : "", num_bytes == 16 ? "cg" : "ca",
                  num_bytes, has_condition ? ", %2" : "",
                  has_condition ? fmt::format(", \"r\"(condition ? {} : 0)", num_bytes) : "", type, source));
}

NamedFunction cp_commit_function() {
  return named("tw_cp_commit", "closes a group of copies",
               fmt::format(R"({}tw_cp_commit() {{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}})",
                           kFunction));
}

NamedFunction cp_wait_function() {
  return named("tw_cp_wait", "waits until at most so many groups are open",
               fmt::format(R"(template <int kOpen>
{}tw_cp_wait() {{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kOpen) : "memory");
#endif
}})",
                           kFunction));
}

NamedFunction ldmatrix_function(int64_t num_matrices, bool is_transposed) {
  const int count = static_cast<int>(num_matrices);
  const std::string name = fmt::format("tw_ldmatrix_x{}{}", count, is_transposed ? "_trans" : "");
  return named(name,
               "each lane brings the address of a row of 16 bytes, and gets two neighbours of each matrix",
               fmt::format(R"({}{}(void* to, const void* from) {{
  unsigned* d = (unsigned*)to;
  asm volatile("ldmatrix.sync.aligned.m8n8.x{}{}.shared.b16 {}, [%{}];"
               : {}
               : "r"((unsigned)__cvta_generic_to_shared(from))
               : "memory");
}})",
                           kFunction, name, count, is_transposed ? ".trans" : "", registers(0, count), count,
                           operands("=r", "d", count)));
}

DataType mma_dtype(const CallNode* call, int operand) {
  const ElementType* element = element_of(call, operand);
  if (!element) refuse(call);
  return DataType::parse(element->dtype);
}

NamedFunction mma_function(const CallNode* call) {
  const ElementType *a = element_of(call, 0), *b = element_of(call, 1), *c = element_of(call, 2);
  if (!a || !b || !c || text_of(call, 1) != "row" || text_of(call, 2) != "col") refuse(call);
  const int64_t k = columns_of(text_of(call, 0));
  const int bits = mma_dtype(call, 0).bits, bits_c = mma_dtype(call, 2).bits;
  // a register of 32 bits for each lane: A has 16 x k elements, B k x 8, C 16 x 8
  const int in_a = static_cast<int>(16 * k * bits / 1024), in_b = in_a / 2, in_c = bits_c == 16 ? 2 : 4;
  const bool is_whole = c->ptx == "s32", is_of_bytes = a->ptx == "s8" || a->ptx == "u8";
  const bool is_known = k != 0 && in_a >= 2 && in_a <= 4 && mma_dtype(call, 1).bits == bits &&
                        is_whole == is_of_bytes && a->ptx != "f32" && a->ptx != "s32" &&
                        (c->ptx == "f32" || c->ptx == "s32" || (c->ptx == "f16" && a->ptx == "f16"));
  if (!is_known) refuse(call);
  const bool saturates = is_whole && !tir::is_zero(call->args[12]);
  const std::string name = fmt::format("tw_mma_{}_{}_{}_{}{}", text_of(call, 0), a->ptx, b->ptx, c->ptx,
                                       saturates ? "_saturated" : "");
  const bool is_float_register = c->ptx == "f32";
  return named(name, "C += A * B; the lanes of a warp hold parts of the matrices",
               fmt::format(R"({}{}(void* sums, const void* left, const void* right) {{
  {}* c = ({}*)sums;
  const unsigned *a = (const unsigned*)left, *b = (const unsigned*)right;
  asm volatile(
      "mma.sync.aligned.{}.row.col{}.{}.{}.{}.{} {}, {}, {}, {};"
      : {}
      : {}, {});
}})",
                           kFunction, name, is_float_register ? "float" : "unsigned",
                           is_float_register ? "float" : "unsigned", text_of(call, 0),
                           saturates ? ".satfinite" : "", c->ptx, a->ptx, b->ptx, c->ptx, registers(0, in_c),
                           registers(in_c, in_a), registers(in_c + in_a, in_b), registers(0, in_c),
                           operands(is_float_register ? "+f" : "+r", "c", in_c), operands("r", "a", in_a),
                           operands("r", "b", in_b)));
}

}  // namespace tilewright::codegen
