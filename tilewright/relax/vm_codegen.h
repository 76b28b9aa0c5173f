// Graph functions to the virtual machine's code.
#pragma once
#include "tilewright/relax/memory_plan.h"
#include "tilewright/relax/relax.h"
#include "tilewright/runtime/vm/bytecode.h"

namespace tilewright::relax {

/// Attribute of a graph function: what its results are called (Array of StringImm), one name for each field
/// of the tuple.
inline constexpr std::string_view kOutputNames = "output_names";

struct VmProgram {
  runtime::vm::Executable executable;
  /// The memory plan of each graph function, by name.
  std::vector<std::pair<std::string, MemoryPlan>> plans;
};

/// The code of all graph functions of `module`, statement by statement.  They are in A-normal form, legalised
/// and lowered (lowering_pipeline): memory is R.builtin.alloc_tensor and R.vm.*, computation is calls of loop
/// programs and other functions.  The PrimFuncs of `module` are the kernels, compiled by the driver under
/// kernel_symbol(). Raises Unsupported for an operator that was not lowered or a nested function, UserError
/// for memory that is used after its end or overwritten (lay_out_memory).
VmProgram vm_codegen(const IRModule& module);

/// The name under which the kernel `name` of `module` is exported: its global_symbol, or `name`.
std::string kernel_symbol(const IRModule& module, const std::string& name);

/// "R.Tensor((n, 4), \"float32\")" in short: "float32[n, 4]", "tuple(float32[2], object)".
std::string short_type(const Type& type);

}  // namespace tilewright::relax
