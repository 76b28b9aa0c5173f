#include "tilewright/driver/place_graph.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tilewright/driver/kernel.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/infer/vdevices.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/pass.h"
#include "tilewright/target/gpu_features.h"
#include "tilewright/target/target.h"
#include "tilewright/tir/builder.h"

namespace tilewright::driver {
namespace {

runtime::Device device_of(const ir::Target& target) {
  return runtime::Device::parse(target::find_target_kind(target->kind_name)->device);
}

// The target for one device of the list.
ir::Target target_of(const relax::VDevice& device, const std::vector<ir::Target>& given) {
  const ir::Target own = target::parse_target(device.target);
  if (!own->attrs.empty()) return own;
  for (const ir::Target& target : given) {
    if (target->kind_name == own->kind_name) return target;
  }
  // llvm and c are both code of the CPU
  for (const ir::Target& target : given) {
    if (device.device.is_cpu() && device_of(target).is_cpu()) return target;
  }
  return own;
}

// Targets of GPUs that name no host get that of the CPU among the devices.
void give_hosts(std::vector<ir::Target>& targets, const std::vector<ir::Target>& given) {
  ir::Target host;
  for (const std::vector<ir::Target>* list : {&std::as_const(targets), &given}) {
    for (const ir::Target& target : *list) {
      if (!host && device_of(target).is_cpu()) host = target;
    }
  }
  for (ir::Target& target : targets) {
    if (host && target::is_gpu(target) && !target->host)
      target = with(target, [&](ir::TargetNode& node) { node.host = host; });
  }
}

size_t default_device_of(const relax::VDevices& devices, const ir::Target& first) {
  const std::vector<relax::VDevice>& list = devices.list();
  const runtime::Device wanted = device_of(first);
  const auto found = std::find_if(list.begin(), list.end(), [&](const relax::VDevice& device) {
    return device.device.type == wanted.type;
  });
  return found == list.end() ? 0 : static_cast<size_t>(found - list.begin());
}

}  // namespace

Placement place_graph(ir::IRModule* module, const std::vector<ir::Target>& targets) {
  const relax::VDevices devices(*module);
  Placement placement;
  if (!devices.is_used()) {
    placement.devices = {device_of(targets[0])};
    placement.targets = {targets[0]};
    if ((*module)->global_infos.contains(relax::kVDevices))
      *module = with(*module, [](ir::IRModuleNode& node) { node.global_infos.erase(relax::kVDevices); });
    return placement;
  }
  *module = devices.with_names(*module);
  for (const relax::VDevice& device : devices.list()) {
    placement.devices.push_back(device.device);
    placement.targets.push_back(target_of(device, targets));
  }
  give_hosts(placement.targets, targets);
  placement.default_target = default_device_of(devices, targets[0]);
  placement.default_device = devices[placement.default_target].name;
  return placement;
}

ir::IRModule located(const ir::IRModule& module, const Placement& placement, bool is_strict,
                     ir::PassContext& context) {
  if (!placement.is_located()) return module;
  return context.run(
      relax::find_pass("realize_vdevice"), module,
      {{"strict", tir::bool_imm(is_strict)}, {"default_device", tir::string_imm(placement.default_device)}});
}

ir::IRModule with_kernel_targets(const ir::IRModule& module, const Placement& placement) {
  const bool is_same =
      std::all_of(placement.targets.begin(), placement.targets.end(),
                  [&](const ir::Target& target) { return target->str() == placement.targets[0]->str(); });
  if (!placement.is_located() || is_same) return module;
  const relax::VDevices devices(module);
  ir::IRModule result = module;
  std::map<std::pair<std::string, std::string>, ir::GlobalVar> programs;  // by name and target
  const auto program_for = [&](const ir::GlobalVar& name, const ir::Target& target) {
    ir::GlobalVar& known = programs[{name->name_hint, target->str()}];
    if (known) return known;
    const auto func = ir::ref_as<tir::PrimFuncNode>(module->find(name->name_hint));
    const auto first = ir::ref_as<tir::PrimFuncNode>(result->find(name->name_hint));
    const bool is_taken = first->attrs.contains(kKernelTarget);
    std::string own = name->name_hint;
    for (int n = 1; is_taken && result->find(own); ++n)
      own = fmt::format("{}_{}{}", name->name_hint, target->kind_name, n == 1 ? "" : std::to_string(n));
    result = ir::with_function(result, own, with(func, [&](tir::PrimFuncNode& node) {
                                 node.attrs.set(std::string(kKernelTarget), target);
                                 if (node.attrs.contains("global_symbol") && is_taken)
                                   node.attrs.set("global_symbol", tir::string_imm(own));
                               }));
    return known = result->find_global_var(own);
  };
  for (size_t n = 0; n < module->functions.size(); ++n) {
    const auto func = ir::ref_as<relax::FunctionNode>(module->functions[n]);
    if (!func) continue;
    const relax::Function changed = rewrite(func, [&](auto& self, const relax::CallNode* node) -> ir::Expr {
      const relax::Call call = self.children(node);
      const auto callee = call->args.empty() ? ir::GlobalVar() : ir::ref_as<ir::GlobalVarNode>(call->args[0]);
      if (!callee || !relax::writes_outputs(relax::op_name(node)) ||
          !is<tir::PrimFuncNode>(module->find(callee->name_hint)))
        return call;
      const ir::GlobalVar own = program_for(callee, placement.targets[devices.of_type(call->type, call)]);
      if (own == callee) return call;
      return with(call, [&](relax::CallNode& placed) { placed.args[0] = own; });
    });
    if (changed != func) result = ir::with_function(result, module->global_vars[n]->name_hint, changed);
  }
  return result;
}

}  // namespace tilewright::driver
