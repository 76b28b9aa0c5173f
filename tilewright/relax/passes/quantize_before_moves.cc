// Quantizes before what only moves elements, so that bytes are moved.
//   quantize(concat((a, b)), s, z)   =>  concat((quantize(a, s, z), quantize(b, s, z)))
//   quantize(permute_dims(a), s, z)  =>  permute_dims(quantize(a, s, z))
//   quantize(max_pool2d(a), s, z)    =>  max_pool2d(quantize(a, s, z))
// The results have the same bits: each element is rounded by itself, by one positive scale and one zero point, which are
// constants.  Only where nothing else uses what was moved, and not where that has fewer elements than what it comes
// from, other than by pooling.
#include <algorithm>
#include <unordered_map>

#include "tilewright/ir/rewrite.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/pass.h"
#include "tilewright/relax/products/byte_moves.h"
#include "tilewright/relax/products/quantized_values.h"

namespace tilewright::relax {
namespace {

// Operators that may leave out elements.
bool leaves_out(const CallNode* call) {
  constexpr std::string_view kNames[] = {"relax.strided_slice", "relax.take", "relax.gather_elements",
                                         "relax.gather_nd"};
  return std::find(std::begin(kNames), std::end(kNames), op_name(call)) != std::end(kNames);
}

class Mover {
 public:
  explicit Mover(const NumUses& num_uses) : num_uses_(num_uses) {}
  int num_changes = 0;

  BindingBlock visit(const DataflowBlockNode* block) {
    bindings_.clear();
    moves_.clear();
    for (const Binding& binding : block->bindings) {
      const auto* bound = binding.as<VarBindingNode>();
      const auto* call = bound ? bound->value.as<CallNode>() : nullptr;
      const Expr value = call ? visit(bound->var, call) : Expr();
      bindings_.push_back(value ? with(VarBinding(bound), [&](VarBindingNode& b) { b.value = value; })
                                : binding);
    }
    return DataflowBlockNode::make(bindings_);
  }

 private:
  // The value that replaces `call` in the binding of `var`, or null.
  Expr visit(const AnyVar& var, const CallNode* call) {
    if (op_name(call) == "relax.quantize") {
      const std::optional<Quantized> parameters = parameters_of(call, dtype_of(Expr(call)));
      if (!parameters || !parameters->is_scalar()) return nullptr;
      const Expr value = before_moves(call->args[0], call, static_cast<int64_t>(parameters->zero[0]));
      num_changes += value ? 1 : 0;
      return value;
    }
    const auto uses = num_uses_.find(var.get());
    const bool is_move = (only_moves(call) && !leaves_out(call)) || takes_largest(call);
    if (is_move && is<DataflowVarNode>(var) && uses != num_uses_.end() && uses->second == 1)
      moves_.emplace(var.get(), Call(call));
    return nullptr;
  }

  // `quantize`, a call, of `x`, with the moves that `x` is made by done to the result; null if there are none.
  Expr before_moves(const Expr& x, const CallNode* quantize, int64_t zero) {
    const auto found = moves_.find(x.get());
    if (found == moves_.end()) return nullptr;
    const Call& move = found->second;
    const auto* tuple = move->args[0].as<TupleNode>();
    if (!tuple) return moved(move.get(), rounded(move->args[0], quantize, zero), zero);
    std::vector<Expr> parts;
    for (const Expr& part : tuple->elements) parts.push_back(rounded(part, quantize, zero));
    return moved(move.get(), TupleNode::make(std::move(parts)), zero);
  }

  // A new variable with `x` quantized.
  AnyVar rounded(const Expr& x, const CallNode* quantize, int64_t zero) {
    Expr value = before_moves(x, quantize, zero);
    if (!value) {
      AttrMap attrs = quantize->attrs;
      attrs.set("axis", attr(int64_t{-1}));
      value = call_op("relax.quantize", {x, quantize->args[1], quantize->args[2]}, attrs, quantize->span);
    }
    const AnyVar var = DataflowVarNode::make("q", Type());
    bindings_.push_back(VarBindingNode::make(var, value));
    return var;
  }

  const NumUses& num_uses_;
  std::vector<Binding> bindings_;
  std::unordered_map<const Object*, Call> moves_;  // values with one use, by what moved elements
};

IRModule run(const IRModule& module, const NoOptions&, PassContext&) {
  return map_functions<FunctionNode>(module, [&](const Function& func) {
    const NumUses num_uses = count_uses(func);
    Mover mover(num_uses);
    const Function changed = rewrite(
        func, [&](auto&, const DataflowBlockNode* block) -> BindingBlock { return mover.visit(block); });
    return mover.num_changes == 0 ? func : BlockBuilder(module).normalize_function(changed);
  });
}

}  // namespace

extern constinit const PassInfo quantize_before_moves_info = module_pass<run>(
    "quantize_before_moves", "Quantizes values before they are moved, so that bytes are moved.", 2);

}  // namespace tilewright::relax
