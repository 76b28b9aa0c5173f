// Lowers memory statements to the operators of the virtual machine.
//   R.memory.alloc_storage(size, index, scope, dtype)    -> R.vm.alloc_storage(size, index, dtype, scope)
//   R.memory.alloc_tensor(storage, offset, shape, dtype) -> R.vm.alloc_tensor(storage, offset, shape, dtype)
//   R.memory.kill_storage(storage)                       -> R.vm.kill_object(storage)
//   R.memory.kill_tensor(x)                              -> R.vm.kill_object(x)
#include "tilewright/ir/rewrite.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/memory/memory_ops.h"
#include "tilewright/relax/pass.h"

namespace tilewright::relax {
namespace {

Function run(const Function& func, const NoOptions&) {
  return rewrite(func, [](auto&, const CallNode* call) -> Call {
    const std::string_view name = op_name(call);
    if (name == kMemoryAllocStorage) {
      const StorageAlloc alloc = storage_alloc(call);
      return memory_call(kVmAllocStorage, {alloc.size, alloc.device, alloc.dtype, alloc.scope}, call->span);
    }
    if (name == kMemoryAllocTensor) return memory_call(kVmAllocTensor, call->args, call->span);
    if (is_kill(name) && name != kVmKillObject) return memory_call(kVmKillObject, call->args, call->span);
    return Call(call);
  });
}

}  // namespace

extern constinit const PassInfo lower_runtime_builtin_info = function_pass<FunctionNode, run>(
    "lower_runtime_builtin", "Lowers memory statements to the operators of the virtual machine.");

}  // namespace tilewright::relax
