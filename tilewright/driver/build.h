// The way from loop programs to functions that can be called, and to files.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "tilewright/ir/module.h"
#include "tilewright/ir/pass.h"
#include "tilewright/ir/target.h"
#include "tilewright/runtime/module.h"
#include "tilewright/schedule/default/default.h"
#include "tilewright/tir/tir.h"

namespace tilewright::driver {

/// What one stage of one build took.
struct StageTime {
  std::string stage;     // "cached", or "schedule", "lower" and "codegen"; "link"
  std::string function;  // empty for the whole module
  double seconds;
};

using StageObserver = std::function<void(const StageTime&)>;
using PassObserver = std::function<void(const ir::PassRecord&)>;

/// What the rules of schedule/default have done to one function.
struct KernelSchedule {
  std::string function;
  tir::PrimFunc func;     // after it
  schedule::Trace trace;  // empty: the function stays as it is
  std::vector<schedule::Attempt> attempts;
};

struct Generator;

struct BuildOptions {
  std::string name = "module";  // what messages call the module
  bool schedules = true;        // schedule functions that nobody has scheduled, where the target has rules
  bool check_bounds = false;  // accesses that are not proved to be in their buffers are checked when they run
  // gives the bytes of the VM executable to carry (relax::vm_codegen); asked when they are read or exported
  std::function<std::string()> blob = {};
  StageObserver on_stage = {};  // told when a stage ended; one call at a time, from any thread
  PassObserver on_step = {};    // told of each step of lowering (lower/pipeline.h), in the same way
};

/// The PrimFuncs of `module` compiled for `target`, each under its global_symbol or, without one, its name.
/// Functions are compiled on several threads; code that the same compiler made before is taken from disk
/// (driver/disk_cache.h).  What is not a PrimFunc is left out.  Code for another machine can be exported,
/// not run. Raises UserError or Unsupported with the function's name for what cannot be compiled.
runtime::Module build(const ir::IRModule& module, const ir::Target& target, const BuildOptions& options = {});
/// One function, called by its global_symbol or "main".
runtime::Module build(const tir::PrimFunc& func, const ir::Target& target, const BuildOptions& options = {});

/// The rules of schedule/default on every function of `sch` that nobody has scheduled, as build runs them.
std::vector<schedule::Attempt> schedule_by_rules(schedule::Schedule& sch, const ir::Target& target);

/// What the rules did to each function of `module`, which build made; runs them again.
std::vector<KernelSchedule> kernel_schedules(const runtime::Module& module);

/// Text of what `module` was compiled to, in a format of its target: "ll" (LLVM IR, optimised), "asm", "c";
/// "" is the first of them.
/// Raises UserError if `module` was not made by build, or for another format.
std::string get_source(const runtime::Module& module, const std::string& format);

/// Raises UserError, listing what there is, if files for `generator` cannot have the ending of `path`.
void require_export_format(const Generator& generator, const std::string& path);

/// Writes `module`, which build made, to `path`; the ending says as what: .so, .o, .a or that of a source
/// format. A .so can be loaded by runtime::Module::load and by tvm-ffi.  The file appears whole or not at
/// all. Raises UserError if the path cannot be written, Unsupported if a .so or .o is wanted and there is no
/// linker.
void export_library(const runtime::Module& module, const std::string& path);

}  // namespace tilewright::driver
