// Compiles graph modules to executables of the virtual machine with their kernels.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "tilewright/driver/build.h"
#include "tilewright/ir/pass.h"
#include "tilewright/relax/memory/memory_plan.h"
#include "tilewright/runtime/vm/virtual_machine.h"

namespace tilewright::driver {

/// A compiled graph module.
struct Executable {
  runtime::Module kernels;  // includes the executable: export_library writes a complete model
  runtime::vm::Executable code;
  ir::IRModule legalized;                                        // the module after the graph passes
  ir::IRModule lowered;                                          // the functions that code was generated from
  std::vector<std::pair<std::string, relax::MemoryPlan>> plans;  // by graph function
  std::vector<StageTime> times;
  std::vector<ir::PassRecord> passes;  // graph passes in order, then lowering steps, summed over all kernels
  /// A virtual machine that runs it, on `devices` or those that it was compiled for.
  runtime::vm::VirtualMachine machine(std::vector<runtime::Device> devices = {}) const {
    return runtime::vm::VirtualMachine(code, kernels, std::move(devices));
  }
};

/// Runs the graph functions and loop programs of `module` through the default pipeline of `context` and
/// compiles them for `target`; above level 0, and for GPUs, rules schedule the kernels.  `on_stage` receives the time of
/// each stage, including those of single kernels.  Constants of a module that the caller gives up are freed
/// as soon as they have another form.  Raises UserError for a malformed module, Unsupported if something
/// cannot be compiled.
///
/// check_bounds, records  as in BuildOptions
Executable build_graph(ir::IRModule module, const ir::Target& target, ir::PassContext& context,
                       const StageObserver& on_stage = {}, bool check_bounds = false,
                       const records::Database* records = nullptr);
/// The same for several devices: place_graph.h says which target serves which.
Executable build_graph(ir::IRModule module, const std::vector<ir::Target>& targets, ir::PassContext& context,
                       const StageObserver& on_stage = {}, bool check_bounds = false,
                       const records::Database* records = nullptr);

/// The model in `library`, ready to run.  Raises UserError if there is none, it is damaged, or its code needs
/// features that this machine's CPU lacks.
///
/// devices  where it runs; default those that it was compiled for
runtime::vm::VirtualMachine load_model(const runtime::Module& library,
                                       std::vector<runtime::Device> devices = {});

/// The records of tuning that schedule kernels of a compiled model, by the names of the kernels.
std::vector<std::pair<std::string, records::Record>> noted_records(const runtime::vm::Executable& code);

}  // namespace tilewright::driver
