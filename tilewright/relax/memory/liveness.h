// Liveness: which values of a graph function own memory, and until when they are used.  Shared by the passes
// that plan and free memory and by the VM code generator.
#pragma once
#include <set>
#include <unordered_map>

#include "tilewright/relax/graph/relax.h"

namespace tilewright::relax {

/// A value that owns memory: the result of an allocation, or of a call that is not an operator of the VM.
struct Owner {
  const VarBaseNode* var = nullptr;  // the variable bound to the call
  const CallNode* call = nullptr;
  int64_t first = 0, last = 0;  // steps: positions of bindings in program order, branches one after the other
  const CallNode* last_call = nullptr;  // the last use; null if that is not a call
  bool escapes = false;                 // returned, or passed to code that may keep it
};

struct Liveness {
  std::vector<Owner> owners;
  /// The owners that a variable is or holds; a tensor in a storage holds the storage, too.
  std::unordered_map<const VarBaseNode*, std::set<size_t>> held;
  /// The last step that uses a variable itself.
  std::unordered_map<const VarBaseNode*, int64_t> last_use;
  /// The step at which a binding ends; later than its first step only for branches.
  std::unordered_map<const BindingNode*, int64_t> end_of;
};

/// The arguments that the result of a call is taken to hold: all that the callee may return, or only those
/// that it is certain to return.
enum class Holds { kPossibly, kCertainly };

/// The lifetimes of the values of `func`, which is in A-normal form.  Loop programs of `module` keep none of
/// their arguments; registry functions and other graph functions may.  R.memory.kill_* and R.vm.kill_object
/// do not count as uses.
Liveness analyze_liveness(const Function& func, const IRModule& module, Holds holds = Holds::kPossibly);

/// The number of uses of each variable of a function.
using NumUses = std::unordered_map<const VarBaseNode*, int>;
NumUses count_uses(const Function& func);

/// True if `call` is a direct call of a loop program of `module`.
bool calls_loop_program(const CallNode* call, const IRModule& module);
/// The operator name of a call to an Op ("relax.call_tir"), else "".
std::string_view op_name(const CallNode* call);
/// True for operators that change the shape without a copy: reshape, flatten, expand_dims, squeeze.
bool is_reshape_like(std::string_view name);
/// The axes of a call of permute_dims, counted from 0; a call without axes reverses all.
std::vector<int64_t> permutation_of(const CallNode* call);
/// True for call_tir, call_tir_inplace and call_dps_packed.
bool writes_outputs(std::string_view name);
/// The types of the tensors that such a call writes.
std::vector<TensorType> output_types(const CallNode* call);
/// For each output of such a call the argument that is overwritten with it, or -1 if it has its own memory.
std::vector<int64_t> output_arguments(const CallNode* call);

}  // namespace tilewright::relax
