#include "tilewright/relax/vm/vm_codegen.h"

#include "tilewright/relax/infer/vdevices.h"
#include "tilewright/relax/vm/function_compiler.h"

namespace tilewright::relax {

VmProgram vm_codegen(const IRModule& module) {
  VmProgram program;
  runtime::vm::ExecutableBuilder executable;
  const VDevices devices(module);
  for (const VDevice& device : devices.list()) executable.add_device(device.device);
  for (size_t n = 0; n < module->functions.size(); ++n) {
    const Function func = ref_as<FunctionNode>(module->functions[n]);
    if (!func) continue;
    const std::string& name = module->global_vars[n]->name_hint;
    vm::FunctionCompiler compiler(module, executable, name, func, true);
    executable.add(compiler.compile());
    program.plans.emplace_back(name, std::move(compiler.plan()));
  }
  program.executable = executable.finish();
  return program;
}

}  // namespace tilewright::relax
