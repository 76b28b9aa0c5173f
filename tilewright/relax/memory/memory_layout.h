// Where the storages and tensors of a function in the form of R.vm lie, and that nothing there is overwritten
// while it lives.
#pragma once
#include <unordered_map>

#include "tilewright/relax/memory/memory_ops.h"
#include "tilewright/relax/memory/memory_plan.h"

namespace tilewright::relax {

/// What R.vm.alloc_storage gives.
struct StoragePlace {
  const VarBaseNode* var = nullptr;
  const CallNode* call = nullptr;
  PrimExpr num_bytes;
  int64_t fixed_bytes = -1;  // the same as number; -1: symbolic
  int64_t begin = -1;        // bytes before it in the arena; -1: it comes after all of fixed size
};

struct MemoryLayout {
  std::vector<StoragePlace> storages;
  /// For the variable of each R.vm.alloc_tensor, its storage.
  std::unordered_map<const VarBaseNode*, size_t> storage_of;
  /// The tensors of bounded size at fixed places.
  MemoryPlan plan;
  /// Bytes of all storages of fixed size.
  int64_t fixed_bytes = 0;
  UpperBounds bounds;
  /// For each R.vm.kill_object: other names, tuples and views of what it ends that nothing uses afterwards.
  std::unordered_map<const CallNode*, std::vector<const VarBaseNode*>> end_with;
};

/// The layout of `func`, in A-normal form.  Raises UserError for a tensor that is not inside its storage or
/// overwrites another one that is used afterwards, and for a use of what R.vm.kill_object has ended.
MemoryLayout lay_out_memory(const Function& func, const IRModule& module);

}  // namespace tilewright::relax
