// Which values of a graph function own memory, and for how long they are used: what the passes that plan and
// free memory and the VM code generator share.
#pragma once
#include <set>
#include <unordered_map>

#include "tilewright/relax/graph/relax.h"

namespace tilewright::relax {

/// A value that owns memory: what an allocation, or a call that is no operator of the machine, gives.
struct Owner {
  const VarBaseNode* var = nullptr;  // the variable bound to the call
  const CallNode* call = nullptr;
  int64_t first = 0, last = 0;  // steps: positions of bindings in program order, branches one after the other
  const CallNode* last_call = nullptr;  // where it is used last; null: not by a call
  bool escapes = false;                 // returned, or seen by code that may keep it
};

struct Liveness {
  std::vector<Owner> owners;
  /// The owners that a variable is or holds; a tensor in a storage holds the storage, too.
  std::unordered_map<const VarBaseNode*, std::set<size_t>> held;
  /// The last step that uses a variable itself.
  std::unordered_map<const VarBaseNode*, int64_t> last_use;
  /// The step at which a binding ends; later than where it begins only for branches.
  std::unordered_map<const BindingNode*, int64_t> end_of;
};

/// Whether the result of a call holds what the function called may give back of its arguments.
enum class Holds { kPossibly, kCertainly };

/// What lives how long in `func`, which is in A-normal form.  Loop programs of `module` keep nothing they
/// see; registry functions and other graph functions may.  R.memory.kill_* and R.vm.kill_object use nothing.
Liveness analyze_liveness(const Function& func, const IRModule& module, Holds holds = Holds::kPossibly);

/// How often each variable of a function is used in it.
using NumUses = std::unordered_map<const VarBaseNode*, int>;
NumUses count_uses(const Function& func);

/// Whether `call` is a direct call of a loop program of `module`.
bool calls_loop_program(const CallNode* call, const IRModule& module);
/// The operator name of a call to an Op ("relax.call_tir"), else "".
std::string_view op_name(const CallNode* call);
/// True for operators that give the same elements another shape, without a copy: reshape, flatten,
/// expand_dims, squeeze.
bool is_reshape_like(std::string_view name);
/// The axes of a call of permute_dims, counted from 0; none are all in reverse.
std::vector<int64_t> permutation_of(const CallNode* call);
/// True for call_tir, call_tir_inplace and call_dps_packed.
bool writes_outputs(std::string_view name);
/// The tensor types such a call writes.
std::vector<TensorType> output_types(const CallNode* call);
/// Of such a call, for each output: the argument that becomes it, or -1 for memory of its own.
std::vector<int64_t> output_arguments(const CallNode* call);

}  // namespace tilewright::relax
