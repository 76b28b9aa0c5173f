// Lets matmul read a transposed operand in its original layout, without a copy.
//   wt = R.permute_dims(w); y = R.matmul(x, wt)                   x: [m, k], w: [n, k]
//   ->  y = R.einsum((x, w), "ab,cb->ac")
// For either operand, or both; batch dimensions must be equal, or the second operand has none.  The permute
// is kept if it has other uses; otherwise dead_code_elimination drops it.
// Constants are left alone: fold_constant permutes them once.
#include <unordered_map>

#include "tilewright/ir/rewrite.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/pass.h"

namespace tilewright::relax {
namespace {

// An operand before the permute, and the letter of each of its dimensions.
struct Operand {
  Expr value;
  std::string letters;
};

class Transposes {
 public:
  void define(const Binding& binding) {
    const auto* call = is<VarBindingNode>(binding) ? binding->value.as<CallNode>() : nullptr;
    if (call && op_name(call) == "relax.permute_dims" && !is<ConstantNode>(call->args[0]))
      permutes_[binding->var.get()] = Call(call);
  }

  // The call that replaces a matmul; null if there is nothing to gain or too little is known.
  Expr instead_of(const CallNode* call) const {
    if (op_name(call) != "relax.matmul" ||
        !(permutes_.contains(call->args[0].get()) || permutes_.contains(call->args[1].get())))
      return nullptr;
    const Shape *left = known_shape(call->args[0]), *right = known_shape(call->args[1]);
    const auto* result = call->type.as<TensorTypeNode>();
    if (!left || !right || !result || left->size() < 2 || right->size() < 2 || left->size() > 20)
      return nullptr;
    const Type left_type = type_of(call->args[0]);
    if (result->dtype != left_type.as<TensorTypeNode>()->dtype) return nullptr;  // another accumulator dtype
    const size_t num_batch = left->size() - 2;
    const bool has_batch = right->size() > 2;
    if (has_batch &&
        equal_shapes({left->begin(), left->end() - 2}, {right->begin(), right->end() - 2}) != Answer::kYes)
      return nullptr;
    std::string batch;
    for (size_t n = 0; n < num_batch; ++n) batch += static_cast<char>('d' + n);
    const Operand x = as_it_lies(call->args[0], batch + "ab");
    const Operand w = as_it_lies(call->args[1], (has_batch ? batch : "") + "bc");
    if (x.letters.empty() || w.letters.empty()) return nullptr;
    AttrMap attrs;
    attrs.set("subscripts", attr(x.letters + "," + w.letters + "->" + batch + "ac"));
    const Expr operands = TupleNode::make(std::vector<Expr>{x.value, w.value});
    const Call product = call_op("relax.einsum", {operands}, attrs, call->span);
    return with(product, [&](CallNode& changed) { changed.type = call->type; });
  }

 private:
  Operand as_it_lies(const Expr& value, const std::string& letters) const {
    const auto found = permutes_.find(value.get());
    if (found == permutes_.end()) return {value, letters};
    const auto count = static_cast<int64_t>(letters.size());
    std::vector<int64_t> axes = found->second->attrs.get_ints("axes", {});
    if (axes.empty()) {
      for (int64_t axis = count; axis-- > 0;) axes.push_back(axis);
    }
    std::string result(letters.size(), ' ');
    for (size_t n = 0; n < axes.size() && n < letters.size(); ++n)
      result[static_cast<size_t>(axes[n] < 0 ? axes[n] + count : axes[n])] = letters[n];
    return {found->second->args[0], result};
  }

  std::unordered_map<const Object*, Call> permutes_;  // by the variable that is bound to it
};

Function run(const Function& func, const NoOptions&) {
  return rewrite(func, [&](auto& self, const DataflowBlockNode* block) -> DataflowBlock {
    Transposes transposes;
    std::vector<Binding> bindings;
    for (const Binding& old : block->bindings) {
      const Binding binding = self(old);
      transposes.define(binding);
      const auto* bound = binding.as<VarBindingNode>();
      const auto* call = bound ? bound->value.as<CallNode>() : nullptr;
      const Expr value = call ? transposes.instead_of(call) : Expr();
      if (value)
        bindings.push_back(with(VarBinding(bound), [&](VarBindingNode& node) { node.value = value; }));
      else
        bindings.push_back(binding);
    }
    return bindings == block->bindings ? DataflowBlock(block) : DataflowBlockNode::make(std::move(bindings));
  });
}

}  // namespace

extern constinit const PassInfo fuse_transpose_matmul_info = function_pass<FunctionNode, run>(
    "fuse_transpose_matmul",
    "Lets matmul read transposed operands in their original layout, without a copy.");

}  // namespace tilewright::relax
