// Places tensors that do not outlive the call in one storage, such that tensors live at the same time do not
// overlap.
//   lv = R.builtin.alloc_tensor(R.shape([5, 7]), ...)
//   ->  storage = R.memory.alloc_storage(R.shape([192]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
//       lv = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([5, 7]), R.dtype("float32"))
// Not placed: tensors that are returned or passed to a registry function, which may keep them; tensors of
// symbolic size, unless the attribute tir_var_upper_bound limits their dimensions.
#include "tilewright/ir/rewrite.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/memory/memory_ops.h"
#include "tilewright/relax/memory/memory_plan.h"
#include "tilewright/relax/pass.h"

namespace tilewright::relax {
namespace {

// The offset of each allocated tensor, by variable.
using Offsets = std::unordered_map<const VarBaseNode*, int64_t>;

MemoryPlan plan(const Function& func, const IRModule& module, Offsets* offsets) {
  const Liveness liveness = analyze_liveness(func, module);
  const UpperBounds bounds = upper_bounds(func);
  std::vector<Lifetime> tensors;
  std::vector<const VarBaseNode*> vars;
  for (const Owner& owner : liveness.owners) {
    if (owner.escapes || op_name(owner.call) != kBuiltinAllocTensor) continue;
    const std::optional<int64_t> bytes = most_bytes(ref_as<TensorTypeNode>(owner.call->type), bounds);
    if (!bytes) continue;
    tensors.push_back({owner.var->name_hint, *bytes, owner.first, owner.last});
    vars.push_back(owner.var);
  }
  MemoryPlan result = plan_memory(std::move(tensors), kMemoryAlignment);
  for (size_t n = 0; n < vars.size(); ++n) (*offsets)[vars[n]] = result.offsets[n];
  return result;
}

Function with_first_binding(const Function& func, const Binding& binding) {
  const auto* seq = func->body.as<SeqExprNode>();
  std::vector<BindingBlock> blocks = seq->blocks;
  if (is<PlainBlockNode>(blocks.front())) {
    std::vector<Binding> bindings = blocks.front()->bindings;
    bindings.insert(bindings.begin(), binding);
    blocks.front() = PlainBlockNode::make(std::move(bindings));
  } else {
    blocks.insert(blocks.begin(), PlainBlockNode::make(std::vector<Binding>{binding}));
  }
  return with(func, [&](FunctionNode& node) {
    node.body = with(SeqExpr(seq), [&](SeqExprNode& changed) { changed.blocks = std::move(blocks); });
  });
}

Function planned(const Function& func, const IRModule& module) {
  Offsets offsets;
  const MemoryPlan plan = relax::plan(func, module, &offsets);
  if (offsets.empty()) return func;
  const Call storage_call = memory_call(kMemoryAllocStorage,
                                        {shape_expr({extent_imm(plan.peak_bytes)}), int_value(extent_imm(0)),
                                         text_value("global"), dtype_value(DataType::uint(8))},
                                        func->span);
  const AnyVar storage = VarNode::make("storage", storage_call->type, func->span);
  const Function placed = rewrite(func, [&](auto& self, const VarBindingNode* binding) -> VarBinding {
    const auto found = offsets.find(binding->var.get());
    if (found == offsets.end()) return self.children(binding);
    const TensorAlloc alloc = tensor_alloc(binding->value.template as<CallNode>());
    const Expr value = memory_call(kMemoryAllocTensor,
                                   {storage, int_value(extent_imm(found->second)), alloc.shape, alloc.dtype},
                                   span_of(binding->value));
    return with(binding, [&](VarBindingNode& node) { node.value = value; });
  });
  return with_first_binding(placed, bind(storage, storage_call, func->span));
}

IRModule run(const IRModule& module, const NoOptions&, PassContext&) {
  return map_functions<FunctionNode>(module, [&](const Function& func) { return planned(func, module); });
}

}  // namespace

extern constinit const PassInfo static_plan_block_memory_info =
    module_pass<run>("static_plan_block_memory", "Places tensors that do not outlive a call in one storage.");

}  // namespace tilewright::relax
