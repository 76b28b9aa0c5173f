// The layout of the storages and tensors of a function in the form of R.vm, and the check that no tensor is
// overwritten while it is live.
#pragma once
#include <unordered_map>

#include "tilewright/relax/memory/memory_ops.h"
#include "tilewright/relax/memory/memory_plan.h"

namespace tilewright::relax {

/// The storage that R.vm.alloc_storage returns.
struct StoragePlace {
  const VarBaseNode* var = nullptr;
  const CallNode* call = nullptr;
  PrimExpr num_bytes;
  int64_t fixed_bytes = -1;  // the size, if it is constant; -1: symbolic
  int64_t begin = -1;        // offset in the arena of its device; -1: after all storages of fixed size
  size_t device = 0;
};

struct MemoryLayout {
  std::vector<StoragePlace> storages;
  /// The storage of each variable bound to R.vm.alloc_tensor.
  std::unordered_map<const VarBaseNode*, size_t> storage_of;
  /// The tensors of bounded size at fixed offsets.
  MemoryPlan plan;
  /// Bytes of all storages of fixed size, by device.
  std::vector<int64_t> fixed_bytes = {0};
  UpperBounds bounds;
  /// For each R.vm.kill_object: other names, tuples and views of the killed value that
  /// nothing uses afterwards.
  std::unordered_map<const CallNode*, std::vector<const VarBaseNode*>> end_with;
};

/// The number of the device that an allocation is given, 0 unless it is constant.  Raises Unsupported if the module has no
/// such device.
size_t memory_device(const CallNode* call, const Expr& device, size_t num_devices);

/// The layout of `func`, in A-normal form.  Raises UserError for a tensor that is not inside its storage or
/// overwrites another one that is used afterwards, and for a use of a value after R.vm.kill_object.
MemoryLayout lay_out_memory(const Function& func, const IRModule& module);

}  // namespace tilewright::relax
