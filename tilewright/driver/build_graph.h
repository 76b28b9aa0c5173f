// From graph modules to executables of the virtual machine with their kernels.
#pragma once
#include "tilewright/driver/build.h"
#include "tilewright/ir/pass.h"
#include "tilewright/relax/memory/memory_plan.h"
#include "tilewright/runtime/vm/virtual_machine.h"

namespace tilewright::driver {

/// A compiled graph module.
struct Executable {
  runtime::Module kernels;  // carries the code too: export_library makes a model of it
  runtime::vm::Executable code;
  ir::IRModule legalized;                                        // the module after the graph passes
  ir::IRModule lowered;                                          // its functions as they become code
  std::vector<std::pair<std::string, relax::MemoryPlan>> plans;  // by graph function
  std::vector<StageTime> times;
  std::vector<ir::PassRecord> passes;  // of graphs, as they ran; then steps of lowering, over all kernels
  /// A machine that runs it.
  runtime::vm::VirtualMachine machine() const { return runtime::vm::VirtualMachine(code, kernels); }
};

/// The graph functions and loop programs of `module` through the default pipeline of `context`, compiled for
/// `target`; above level 0 kernels are scheduled by rules.  `on_stage` is told what each stage took, also
/// those of single kernels.  Constants of a module that the caller gives away are freed as soon as they have
/// other forms.  Raises UserError for a malformed module, Unsupported for what cannot be compiled.
///
/// check_bounds  as in BuildOptions
Executable build_graph(ir::IRModule module, const ir::Target& target, ir::PassContext& context,
                       const StageObserver& on_stage = {}, bool check_bounds = false);

/// The model that `library` carries, ready to run.  Raises UserError if it carries none, is damaged, or its
/// code needs features that this machine's CPU lacks.
runtime::vm::VirtualMachine load_model(const runtime::Module& library);

}  // namespace tilewright::driver
