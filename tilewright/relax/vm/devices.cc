// Which device each instruction is for, and where constants lie.
#include "tilewright/relax/graph/devices.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/vm/function_compiler.h"

namespace tilewright::relax::vm {

size_t FunctionCompiler::device_of_type(const Type& type) const {
  return is_split() ? devices_.of_type(type, func_) : 0;
}

// A statement without a result writes into its last arguments.
size_t FunctionCompiler::device_of(const Binding& binding) const {
  if (!is_split()) return 0;
  const auto* call = binding->value.as<CallNode>();
  if (!call || !is_void(call->type)) return device_of_type(binding->var->type);
  std::string device;
  for (const Expr& arg : call->args)
    for_each_tensor(arg, [&](const TensorTypeNode* tensor, std::string_view) {
      if (!tensor->device.empty()) device = tensor->device;
    });
  return device.empty() ? 0 : devices_.find(device, call->op);
}

void FunctionCompiler::load_constant(const ConstantNode* constant, size_t device) {
  if (constants_.count({constant, device})) return;
  code_.on_device(device);
  const rt::Register place = code_.constant(constant->data);
  constants_[{constant, device}] = place;
  is_kept_.insert(place.index);
}

// Loads each constant once on each device that uses it.
void FunctionCompiler::load_constants() {
  if (!is_split()) return walk(func_, [&](const ConstantNode* constant) { load_constant(constant, 0); });
  const auto load = [&](const Expr& expr, size_t device) {
    walk(expr, [&](const ConstantNode* constant) { load_constant(constant, device); });
  };
  const auto load_result = [&](const Expr& branch, const Type& type) {
    if (const auto* seq = branch.as<SeqExprNode>()) load(seq->body, device_of_type(type));
  };
  load_result(func_->body, func_->ret_type);
  walk(func_, [&](const BindingNode* binding) {
    const size_t device = device_of(Binding(binding));
    const auto* branch = binding->value.as<IfNode>();
    if (!branch) return load(binding->value, device);
    load(branch->cond, device);
    load_result(branch->true_branch, binding->var->type);
    load_result(branch->false_branch, binding->var->type);
  });
}

}  // namespace tilewright::relax::vm
