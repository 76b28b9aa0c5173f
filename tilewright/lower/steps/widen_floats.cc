// Arithmetic on floats of 8 and 16 bits  ->  on float32, each result rounded as the program requires.
//   C[i] = A[i] * B[i] + T.bfloat16(1)
//   ->  C[i] = T.Cast("bfloat16", T.Cast("float32", T.Cast("bfloat16", T.Cast("float32", A[i]) * ...))
//                                 + T.float32(1))
// Code generators then only load, store, select and cast such values.  One operation in float32, rounded
// again, gives the nearest value: 24 bits are two more than twice the 11 of float16 (Figueroa 1995).
#include "tilewright/ir/rewrite.h"
#include "tilewright/lower/step.h"
#include "tilewright/support/error.h"
#include "tilewright/support/small_float.h"
#include "tilewright/tir/arithmetic.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"

namespace tilewright::lower {
namespace {

bool is_float16(DataType dtype) { return dtype.code == DataType::kFloat && dtype.bits == 16; }

PrimExpr widened(const PrimExpr& value) {
  return is_small_float(value->dtype) ? tir::cast(kFloat32.with_lanes(value->dtype.lanes), value) : value;
}

// True for calls that move values without looking at them.
bool moves_values(std::string_view op) {
  for (std::string_view name : {"tir.if_then_else",
                                "tir.likely",
                                "tir.reinterpret",
                                "tir.peek",
                                "tir.poke",
                                "tir.address_of",
                                "tir.undef",
                                "tir.vectorlow",
                                "tir.vectorhigh",
                                "tir.vectorcombine",
                                "tir.tvm_thread_invariant",
                                "tir.dot_add",
                                "tir.call_extern",
                                "tir.call_pure_extern",
                                "tir.call_llvm_intrin",
                                "tir.call_llvm_pure_intrin",
                                "tir.tvm_stack_make_array",
                                "tir.ptx_ldmatrix",
                                "tir.ptx_mma",
                                "tir.ptx_cp_async",
                                "tir.mma_fill",
                                "tir.mma_store"}) {
    if (op == name) return true;
  }
  return false;
}

// The call in float32; null if it neither takes nor returns small floats, or only moves them.
PrimExpr widened_call(const Call& call) {
  const auto* op = call->op.as<OpNode>();
  if (!op || moves_values(op->name)) return nullptr;
  bool has_small = is_small_float(call->dtype);
  for (const PrimExpr& arg : call->args) has_small |= is_small_float(arg->dtype);
  if (!has_small) return nullptr;
  if (op->name == "tir.nextafter")
    throw Unsupported(call, "nextafter of dtype {} is not supported", call->dtype.str())
        .help("add 1 to the bits that T.reinterpret gives");
  std::vector<PrimExpr> args;
  for (const PrimExpr& arg : call->args) args.push_back(widened(arg));
  const DataType result = is_small_float(call->dtype) ? kFloat32.with_lanes(call->dtype.lanes) : call->dtype;
  return tir::cast(call->dtype, CallNode::make(result, call->op, std::move(args), call->annotations));
}

PrimFunc widen(const PrimFunc& func, bool has_float16) {
  Stmt body = rewrite(
      func->body,
      [&](auto& self, const BinaryOpNode* node) -> PrimExpr {
        const PrimExpr changed = self.children(node);
        const DataType dtype = node->a->dtype;
        if (!is_small_float(dtype) || (has_float16 && is_float16(dtype))) return changed;
        const auto* operation = changed.as<BinaryOpNode>();
        return tir::cast(node->dtype,
                         binary(node->kind, widened(operation->a), widened(operation->b), node->span));
      },
      [&](auto& self, const CallNode* node) -> PrimExpr {
        const Call changed = ref_as<CallNode>(self.children(node));
        const PrimExpr wide = widened_call(changed);
        return wide ? wide : PrimExpr(changed);
      });
  return body == func->body ? func : with(func, [&](PrimFuncNode& changed) { changed.body = body; });
}

struct Options {
  bool keep_float16 = false;
  static constexpr auto fields() {
    return std::tuple{ir::field<&Options::keep_float16>(
        "keep_float16",
        "whether the machine has the arithmetic of float16; its functions (exp, pow) are widened still")};
  }
};

PrimFunc widen_floats(const PrimFunc& func, const ir::AttrMap& options) {
  return widen(func, ir::from_attrs<Options>(options, "step widen_floats").keep_float16);
}

}  // namespace

extern constinit const StepInfo widen_floats_info = {
    .name = "widen_floats",
    .doc =
        "floats of 8 and 16 bits are computed in float32, each result rounded; for llvm but "
        "for the arithmetic of float16 (option `keep_float16`)",
    .without = kMissingCalls,
    .ends = kSmallFloats | kHalfFloats,
    .run = widen_floats,
    .schema = &ir::option_schema<Options>,
};

}  // namespace tilewright::lower
