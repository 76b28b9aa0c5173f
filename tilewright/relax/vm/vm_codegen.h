// Compiles graph functions to code of the virtual machine.
#pragma once
#include "tilewright/relax/graph/function_names.h"
#include "tilewright/relax/graph/relax.h"
#include "tilewright/relax/memory/memory_plan.h"
#include "tilewright/runtime/vm/bytecode.h"

namespace tilewright::relax {

struct VmProgram {
  runtime::vm::Executable executable;
  /// The memory plan of each graph function, by name.
  std::vector<std::pair<std::string, MemoryPlan>> plans;
};

/// The code of all graph functions of `module`, statement by statement.
///
/// module  in A-normal form, legalised and lowered (lowering_pipeline): memory is R.builtin.alloc_tensor and
///         R.vm.*, computation is calls of loop programs and other functions.  Its PrimFuncs are the kernels,
///         which the driver compiles under kernel_symbol().
///
/// Raises Unsupported for an operator that was not lowered or a local function, UserError for memory that is
/// used after it is freed or overwritten (lay_out_memory).
VmProgram vm_codegen(const IRModule& module);

}  // namespace tilewright::relax
