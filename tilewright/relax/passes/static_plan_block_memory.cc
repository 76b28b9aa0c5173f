// Places tensors that do not outlive the call in one storage on each device, such that tensors live at the same time do
// not overlap.
//   lv = R.builtin.alloc_tensor(R.shape([5, 7]), ...)
//   ->  storage = R.memory.alloc_storage(R.shape([192]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
//       lv = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([5, 7]), R.dtype("float32"))
// Not placed: tensors that are returned or passed to a registry function, which may keep them; tensors of
// symbolic size, unless the attribute tir_var_upper_bound limits their dimensions.
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tilewright/ir/rewrite.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/memory/memory_ops.h"
#include "tilewright/relax/memory/memory_plan.h"
#include "tilewright/relax/pass.h"

namespace tilewright::relax {
namespace {

// The place of an allocated tensor: a device, and the offset in its storage.
struct PlannedTensor {
  int64_t device, offset;
};
struct Plan {
  std::unordered_map<const VarBaseNode*, PlannedTensor> tensors;  // by variable
  std::map<int64_t, int64_t> storage_bytes;                       // by device
};

// The number of the device of R.builtin.alloc_tensor; -1 if it is not constant.
int64_t device_of(const CallNode* call) {
  const auto* value = tensor_alloc(call).device.as<PrimValueNode>();
  int64_t number;
  return value && tir::as_const_int(value->value, &number) ? number : -1;
}

Plan plan(const Function& func, const IRModule& module) {
  const Liveness liveness = analyze_liveness(func, module);
  const UpperBounds bounds = upper_bounds(func);
  std::map<int64_t, std::vector<Lifetime>> tensors;
  std::map<int64_t, std::vector<const VarBaseNode*>> vars;
  for (const Owner& owner : liveness.owners) {
    if (owner.escapes || op_name(owner.call) != kBuiltinAllocTensor) continue;
    const std::optional<int64_t> bytes = most_bytes(ref_as<TensorTypeNode>(owner.call->type), bounds);
    const int64_t device = device_of(owner.call);
    if (!bytes || device < 0) continue;
    tensors[device].push_back({owner.var->name_hint, *bytes, owner.first, owner.last});
    vars[device].push_back(owner.var);
  }
  Plan result;
  for (auto& [device, lifetimes] : tensors) {
    const MemoryPlan planned = plan_memory(std::move(lifetimes), kMemoryAlignment);
    for (size_t n = 0; n < vars[device].size(); ++n)
      result.tensors[vars[device][n]] = {device, planned.offsets[n]};
    result.storage_bytes[device] = planned.peak_bytes;
  }
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
  const Plan plan = relax::plan(func, module);
  if (plan.tensors.empty()) return func;
  std::map<int64_t, VarBinding> storages;
  for (const auto& [device, bytes] : plan.storage_bytes) {
    const Call call = memory_call(kMemoryAllocStorage,
                                  {shape_expr({extent_imm(bytes)}), int_value(extent_imm(device)),
                                   text_value("global"), dtype_value(DataType::uint(8))},
                                  func->span);
    const std::string name = device == 0 ? "storage" : fmt::format("storage{}", device);
    storages[device] =
        VarBindingNode::make(AnyVar(VarNode::make(name, call->type, func->span)), call, func->span);
  }
  Function placed = rewrite(func, [&](auto& self, const VarBindingNode* binding) -> VarBinding {
    const auto found = plan.tensors.find(binding->var.get());
    if (found == plan.tensors.end()) return self.children(binding);
    const TensorAlloc alloc = tensor_alloc(binding->value.template as<CallNode>());
    const Expr value = memory_call(kMemoryAllocTensor,
                                   {storages.at(found->second.device)->var,
                                    int_value(extent_imm(found->second.offset)), alloc.shape, alloc.dtype},
                                   span_of(binding->value));
    return with(binding, [&](VarBindingNode& node) { node.value = value; });
  });
  for (auto storage = storages.rbegin(); storage != storages.rend(); ++storage)
    placed = with_first_binding(placed, storage->second);
  return placed;
}

IRModule run(const IRModule& module, const NoOptions&, PassContext&) {
  return map_functions<FunctionNode>(module, [&](const Function& func) { return planned(func, module); });
}

}  // namespace

extern constinit const PassInfo static_plan_block_memory_info =
    module_pass<run>("static_plan_block_memory", "Places tensors that do not outlive a call in one storage.");

}  // namespace tilewright::relax
