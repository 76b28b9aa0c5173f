// Replaces an allocated tensor by a tensor at the beginning of a storage allocated for it.
//   lv = R.builtin.alloc_tensor(R.shape([5, 7]), f32, R.prim_value(0), R.str("global"))
//   ->  storage = R.memory.alloc_storage(R.shape([140]), R.prim_value(0), R.str("global"), f32)
//       lv = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([5, 7]), f32)
// where f32 = R.dtype("float32").
// Compiling does not run this pass: the virtual machine makes a tensor with its own memory in one step, and
// returns it without a copy (docs/decisions/0013-one-lowered-form.md).
#include "tilewright/ir/rewrite.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/memory/memory_ops.h"
#include "tilewright/relax/pass.h"

namespace tilewright::relax {
namespace {

Function run(const Function& func, const NoOptions&) {
  return rewrite(func, [](auto& self, const PlainBlockNode* node) -> PlainBlock {
    const PlainBlock block = self.children(node);
    std::vector<Binding> bindings;
    for (const Binding& binding : block->bindings) {
      const auto* call = binding->value.template as<CallNode>();
      if (!call || op_name(call) != kBuiltinAllocTensor || !known_shape(binding->value)) {
        bindings.push_back(binding);
        continue;
      }
      const TensorAlloc alloc = tensor_alloc(call);
      const Call storage = memory_call(kMemoryAllocStorage,
                                       {shape_expr({num_bytes(ref_as<TensorTypeNode>(call->type))}),
                                        alloc.device, alloc.scope, alloc.dtype},
                                       call->span);
      const AnyVar var = VarNode::make("storage", storage->type, call->span);
      bindings.push_back(bind(var, storage, binding->span));
      bindings.push_back(
          bind(binding->var,
               memory_call(kMemoryAllocTensor, {var, int_value(extent_imm(0)), alloc.shape, alloc.dtype},
                           call->span),
               binding->span));
    }
    return bindings == block->bindings ? block : PlainBlockNode::make(std::move(bindings));
  });
}

}  // namespace

extern constinit const PassInfo lower_alloc_tensor_info = function_pass<FunctionNode, run>(
    "lower_alloc_tensor", "Gives each allocated tensor a storage of its own.");

}  // namespace tilewright::relax
