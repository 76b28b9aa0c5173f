// Operators that control how gradients are computed; their values are those of the input.  The gradients of
// operators are in the files of the operators: pool.cc, conv.cc, index.cc, attention.cc.
#include "tilewright/relax/infer/op_util.h"
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::relax {
namespace {

Type infer(const Call& call) { return Type(tensor_arg(call, 0)); }
te::Tensor lower(const LowerInput& in) { return topi::cast(in[0], in[0].dtype()); }

constexpr OpInfo row(std::string_view name, std::string_view doc) {
  return op<infer, lower>(name, "input", doc, FusePattern::kElementwise);
}

constexpr OpInfo kOps[] = {
    row("relax.grad.no_grad", "The input, through which no gradient flows."),
    row("relax.grad.start_checkpoint",
        "The input; what depends on it, up to end_checkpoint, is recomputed for gradients."),
    row("relax.grad.end_checkpoint", "The input, which is kept for gradients."),
};

}  // namespace

extern constinit const OpTable grad_info =
    op_table(kOps, "Chen et al., Training Deep Nets with Sublinear Memory Cost, arXiv 1604.06174");

}  // namespace tilewright::relax
