// Calls that allocate and free the memory of tensors, and calls of functions that write into tensors they are
// given: the statements of a graph after call_tir_rewrite.  Three dialects, from graphs to the virtual
// machine:
//   R.builtin.alloc_tensor                            a tensor with its own memory
//   R.memory.alloc_storage, alloc_tensor, kill_*      tensors at planned offsets of storages
//   R.vm.alloc_storage, alloc_tensor, kill_object     the same in the form that the virtual machine executes
#pragma once
#include <map>
#include <optional>
#include <string>

#include "tilewright/relax/graph/type_util.h"
#include "tilewright/runtime/device.h"

namespace tilewright::relax {

inline constexpr std::string_view kBuiltinAllocTensor = "relax.builtin.alloc_tensor";
inline constexpr std::string_view kMemoryAllocStorage = "relax.memory.alloc_storage";
inline constexpr std::string_view kMemoryAllocTensor = "relax.memory.alloc_tensor";
inline constexpr std::string_view kMemoryKillStorage = "relax.memory.kill_storage";
inline constexpr std::string_view kMemoryKillTensor = "relax.memory.kill_tensor";
inline constexpr std::string_view kVmAllocStorage = "relax.vm.alloc_storage";
inline constexpr std::string_view kVmAllocTensor = "relax.vm.alloc_tensor";
inline constexpr std::string_view kVmKillObject = "relax.vm.kill_object";

/// The alignment in bytes of all memory of tensors.
inline constexpr int64_t kMemoryAlignment = runtime::kTensorAlignment;

/// True for R.memory.alloc_storage and R.vm.alloc_storage.
bool is_alloc_storage(std::string_view op_name);
/// True for R.memory.alloc_tensor and R.vm.alloc_tensor: tensors in a storage.
bool is_alloc_in_storage(std::string_view op_name);
/// True for the operators that free their argument.
bool is_kill(std::string_view op_name);

/// R.builtin.alloc_tensor(shape, dtype, device, scope)
struct TensorAlloc {
  Expr shape, dtype, device, scope;
};
/// R.memory.alloc_storage(size, device, scope, dtype), R.vm.alloc_storage(size, device, dtype, scope)
struct StorageAlloc {
  Expr size, device, scope, dtype;
  /// The size in bytes, an extent.
  PrimExpr num_bytes() const;
};
/// R.memory.alloc_tensor(storage, offset, shape, dtype), R.vm.alloc_tensor(storage, offset, shape, dtype)
struct PlacedAlloc {
  Expr storage, offset, shape, dtype;
  /// The offset of the tensor in the storage in bytes, an extent.
  PrimExpr offset_bytes() const;
};
/// The arguments of such a call, with defaults for those that are missing.
TensorAlloc tensor_alloc(const CallNode* call);
StorageAlloc storage_alloc(const CallNode* call);
PlacedAlloc placed_alloc(const CallNode* call);

// ---- making; calls have their types
Expr int_value(PrimExpr value);
Expr text_value(std::string text);
Expr dtype_value(DataType dtype);
/// A call of the operator `op`, with its type; raises the errors of its inference.
Call memory_call(std::string_view op, std::vector<Expr> args, const Span& span);
/// f(args...), which returns nothing: it writes its results into its last arguments.
Call call_for_effect(const Expr& callee, std::vector<Expr> args, const Span& span);
/// _ = call
Binding effect(const Call& call);
Binding bind(const AnyVar& var, const Expr& value, const Span& span);

// ---- sizes
/// The largest values of dimensions, by name.
using UpperBounds = std::map<std::string, int64_t>;
/// The attribute tir_var_upper_bound of `func`.  Raises UserError unless it is a dict of positive integers.
UpperBounds upper_bounds(const Function& func);
inline constexpr std::string_view kUpperBounds = "tir_var_upper_bound";
/// The number of bytes of a tensor whose extents are known.
PrimExpr num_bytes(const TensorType& type);
/// The most bytes that a tensor can have; nullopt if there is no bound.  Raises UserError for a tensor that
/// is larger than any memory.
std::optional<int64_t> most_bytes(const TensorType& type, const UpperBounds& bounds);

}  // namespace tilewright::relax
