// From modules to code that runs: loop programs to kernels, graphs to virtual machines, both to files.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tilewright/ir/pass.h"
#include "tilewright/ir/target.h"
#include "tilewright/relax/memory_plan.h"
#include "tilewright/runtime/module.h"
#include "tilewright/runtime/vm/virtual_machine.h"

namespace tilewright::driver {
using namespace ir;

/// How long a stage took.
struct StageTime {
  std::string stage;
  double seconds = 0;
  std::string detail;  // "7 kernels"
};

/// Compiled loop programs.
struct Library {
  runtime::Module module;             // loaded; undefined when the target is not this machine
  Target target;
  std::vector<std::string> names;     // of the kernels, as they are called
  std::map<std::string, IRModule> lowered;  // by kernel, lower/lowered.h
  std::vector<std::string> objects;   // relocatable object files
  std::vector<StageTime> times;

  /// Code as text: "ll" (LLVM IR), "asm" (assembly), "tir" (lowered programs).  Raises UserError for another format.
  std::string source(std::string_view format) const;
};

/// The loop programs of `module`, compiled for `target` and loaded.
/// Raises UserError for a program that is malformed, Unsupported for a target that has no code generator.
Library build(const IRModule& module, const Target& target);

/// A compiled graph module.
struct Executable {
  Library library;
  runtime::vm::Executable code;
  IRModule legalized;  // the module after the graph passes
  std::vector<std::pair<std::string, relax::MemoryPlan>> plans;
  std::vector<StageTime> times;
  /// A machine that runs it.
  runtime::vm::VirtualMachine machine() const;
};

/// The graph functions and loop programs of `module` through the default pipeline of `context`, compiled for `target`.
Executable build_graph(const IRModule& module, const Target& target, PassContext& context);

/// Writes the library as `path`: a shared library (.so), relocatable object (.o) or archive of text (.ll, .s), by its
/// ending.  `blob` is the VM executable of a model, or empty.  The file appears complete or not at all.
/// Raises UserError if the ending is unknown or the path cannot be written, Unsupported without a linker.
void export_library(const Library& library, const std::string& path, std::string_view blob = {});
/// The same for a model: kernels and VM code in one shared library.
void export_model(const Executable& executable, const std::string& path);

}  // namespace tilewright::driver
