// The model of a command: an ONNX file, which is compiled now, or a library compiled before.
#pragma once
#include <optional>
#include <string>

#include "tilewright/cli/report.h"
#include "tilewright/driver/build_graph.h"
#include "tilewright/frontend/onnx/read/model.h"

namespace tilewright::cli {

/// Options of all commands that take a model; options.h makes command line options of them.
struct ModelOptions {
  std::string path;
  std::string target = "llvm";
  int opt_level = 2;
  std::string precision = "exact";
  std::string weights = "float32";
  bool check_bounds = false, is_reproducible = false;
  std::vector<std::string> fixed_dims;  // "batch=1"
  std::vector<std::string> best_at;     // "batch=1,8"
  std::string database;                 // a file of tuning records; empty: none
  int num_threads = 0;                  // 0: all CPUs
  std::string device;                   // "opencl:1"; empty: the first that the program is for
  bool is_quiet = false;
};

/// True if the file at `path` is a compiled model rather than ONNX, judged by its ending, else by its first
/// bytes.
bool is_library(const std::string& path);

/// Reads the ONNX file and sets the dimensions of --fix.
frontend::onnx::Model read_onnx(const ModelOptions& options);
/// Imports it as a graph.
ir::IRModule import_onnx(const ModelOptions& options, Progress& progress);

/// Compiles `module`, which was imported from options.path.
driver::Executable compile(ir::IRModule module, const ModelOptions& options, Progress& progress);

struct Model {
  runtime::vm::VirtualMachine machine;
  std::optional<driver::Executable> compiled;  // nullopt for a library
  /// The function that commands run.
  const runtime::vm::BytecodeFunction& main() const;
};

/// Loads or compiles the model.  Raises UserError if it has no function "main" or needs CPU features that
/// this machine lacks.
Model load_model(const ModelOptions& options, Progress& progress);

}  // namespace tilewright::cli
