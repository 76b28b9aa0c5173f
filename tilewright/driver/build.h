// Compiles loop programs to callable functions and to files.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "tilewright/ir/module.h"
#include "tilewright/ir/pass.h"
#include "tilewright/ir/target.h"
#include "tilewright/records/record.h"
#include "tilewright/runtime/module.h"
#include "tilewright/schedule/default/extent_plans.h"
#include "tilewright/tir/tir.h"

namespace tilewright::driver {

/// The time of one stage of a build.
struct StageTime {
  std::string stage;     // "cached", or "schedule", "lower" and "codegen"; "link"
  std::string function;  // empty for the whole module
  double seconds;
};

using StageObserver = std::function<void(const StageTime&)>;
using PassObserver = std::function<void(const ir::PassRecord&)>;

/// The result of the rules of schedule/default for one function, or for a range of its extents.
struct KernelSchedule {
  std::string function;
  tir::PrimFunc func;     // after scheduling
  schedule::Trace trace;  // empty: the function was not changed
  std::vector<schedule::Attempt> attempts;
  std::vector<schedule::PlannedExtent> extents = {};  // empty: for all
};

struct Generator;

struct BuildOptions {
  std::string name = "module";  // the name of the module in messages
  bool schedules = true;        // schedule functions that have no schedule, if the target has rules
  bool check_bounds = false;    // check at run time the accesses that are not proved to be in their buffers
  const records::Database* records = nullptr;  // schedules of kernels that were tuned; null: none
  // returns the bytes of the VM executable to include (relax::vm_codegen); called when they are read or
  // exported
  std::function<std::string()> blob = {};
  StageObserver on_stage = {};  // called after each stage; one call at a time, from any thread
  PassObserver on_step = {};    // called after each lowering step (lower/pipeline.h), in the same way
};

/// Key::machine of records for `target`, which `generator` was made for.
std::string machine_key(const ir::Target& target, const Generator& generator);

/// The PrimFuncs of `module` compiled for `target`, each under its global_symbol or else its name in the
/// module. Functions are compiled on several threads; code that the same compiler made before is taken from
/// disk (driver/disk_cache.h).  Functions of other kinds are left out.  Code for another machine can be
/// exported, but not run.  Raises UserError or Unsupported with the function's name if it cannot be compiled.
runtime::Module build(const ir::IRModule& module, const ir::Target& target, const BuildOptions& options = {});
/// Builds a single function, named by its global_symbol or "main".
runtime::Module build(const tir::PrimFunc& func, const ir::Target& target, const BuildOptions& options = {});

/// Applies the rules of schedule/default to every function of `sch` without a schedule, as build does.
std::vector<schedule::Attempt> schedule_by_rules(schedule::Schedule& sch, const ir::Target& target);

/// The results of the rules for each function of `module`, which must come from build, one for each of its plans;
/// runs the rules again.
std::vector<KernelSchedule> kernel_schedules(const runtime::Module& module);
/// The functions of `module` after scheduling, each with all of its plans; runs the rules again.
ir::IRModule scheduled_kernels(const runtime::Module& module);
/// The functions of `module` that have several plans, and a line for each plan.
std::vector<std::pair<std::string, std::string>> kernel_plans(const runtime::Module& module);
/// The functions of `module` that BuildOptions::records knows, each with its record.
std::vector<std::pair<std::string, records::Record>> kernel_records(const runtime::Module& module);

/// The code of `module` as text, in a format of its target: "ll" (LLVM IR, optimised), "asm", "c"; "" selects
/// the first of them.  Raises UserError if build did not make `module`, or for an unknown format.
std::string get_source(const runtime::Module& module, const std::string& format);

/// Raises UserError, listing the possible endings, if `generator` cannot write a file with the ending of
/// `path`.
void require_export_format(const Generator& generator, const std::string& path);

/// Writes `module`, which must come from build, to `path`; the ending selects the format: .so, .o, .a or that
/// of a source format.  runtime::Module::load and tvm-ffi can load a .so.  The file is written completely or
/// not at all.  Raises UserError if the path cannot be written, Unsupported if a .so or .o is requested and
/// there is no linker.
void export_library(const runtime::Module& module, const std::string& path);

}  // namespace tilewright::driver
