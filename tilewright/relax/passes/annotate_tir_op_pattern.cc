// Adds the attribute op_pattern to loop programs: how fusion may treat them, derived from their loops.
//   0 elementwise  1 broadcast  2 injective  3 reduction  4 out-fusable (matmul, convolution)  8 opaque
// fuse_ops derives the same by itself.  An attribute that exists is kept and overrides the derived pattern.
#include "tilewright/relax/fusion/tir_pattern.h"
#include "tilewright/relax/pass.h"
#include "tilewright/tir/builder.h"

namespace tilewright::relax {
namespace {

constexpr int64_t kOpaqueNumber = 8;  // the number in TVM; 7 are tuples

tir::PrimFunc run(const tir::PrimFunc& func, const NoOptions&) {
  if (func->attrs.contains("op_pattern")) return func;
  const FusePattern pattern = pattern_of(func);
  const int64_t number = pattern == FusePattern::kOpaque ? kOpaqueNumber : static_cast<int64_t>(pattern);
  return ref_as<tir::PrimFuncNode>(with_attr(func, "op_pattern", tir::imm(number, kInt64)));
}

}  // namespace

extern constinit const PassInfo annotate_tir_op_pattern_info = function_pass<tir::PrimFuncNode, run>(
    "annotate_tir_op_pattern",
    "Annotates loop programs with how they may be fused, the attribute op_pattern.");

}  // namespace tilewright::relax
