// Which tensors of a graph function need memory, and for how long: what the memory plan and the VM code
// generator share.
#pragma once
#include <unordered_map>

#include "tilewright/relax/relax.h"

namespace tilewright::relax {

/// One tensor that a call_tir, call_tir_inplace or call_dps_packed of the function writes.
struct Allocation {
  const VarBaseNode* var = nullptr;  // the variable bound to the call
  size_t output = 0;                 // which of the call's outputs
  TensorType type;
  int64_t first = 0, last = 0;  // steps: positions of bindings in program order, branches one after the other
  bool escapes = false;         // returned, or seen by code that may keep it: needs memory of its own
};

struct Liveness {
  std::vector<Allocation> allocations;
  /// First allocation of each variable bound to a call that allocates.
  std::unordered_map<const VarBaseNode*, size_t> first_allocation;
  int64_t num_steps = 0;
};

/// The allocations of `func`, which is in A-normal form with call_tir and call_dps_packed for all
/// computation. Kernels of `module` keep nothing they see; registry functions may.
Liveness analyze_liveness(const Function& func, const IRModule& module);

/// The operator name of a call to an Op ("relax.call_tir"), else "".
std::string_view op_name(const CallNode* call);
/// True for operators that give the same elements another shape, without a copy: reshape, flatten,
/// expand_dims, squeeze.
bool is_reshape_like(std::string_view name);
/// True for call_tir, call_tir_inplace and call_dps_packed.
bool writes_outputs(std::string_view name);
/// The tensor types such a call writes.
std::vector<TensorType> output_types(const CallNode* call);
/// Of such a call, for each output: the argument that becomes it, or -1 for memory of its own.
std::vector<int64_t> output_arguments(const CallNode* call);

}  // namespace tilewright::relax
