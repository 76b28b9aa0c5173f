// A model as commands get it: an ONNX file, compiled here, or a library that was compiled before.
#pragma once
#include <optional>
#include <string>

#include "tilewright/cli/report.h"
#include "tilewright/driver/build_graph.h"
#include "tilewright/frontend/onnx/model.h"

namespace tilewright::cli {

/// What is common to commands that take a model; options.h makes command line options of it.
struct ModelOptions {
  std::string path;
  std::string target = "llvm";
  int opt_level = 2;
  std::string precision = "exact";
  std::string weights = "float32";
  bool check_bounds = false;
  std::vector<std::string> fixed_dims;  // "batch=1"
  int num_threads = 0;                  // 0: all CPUs
  bool is_quiet = false;
};

/// Whether the file at `path` is a compiled model rather than ONNX: by its ending, else by its first bytes.
bool is_library(const std::string& path);

/// An ONNX file with the dimensions that --fix says.
frontend::onnx::Model read_onnx(const ModelOptions& options);
/// The graph of it.
ir::IRModule import_onnx(const ModelOptions& options, Progress& progress);

/// `module`, imported from options.path, compiled.
driver::Executable compile(ir::IRModule module, const ModelOptions& options, Progress& progress);

struct Model {
  runtime::vm::VirtualMachine machine;
  std::optional<driver::Executable> compiled;  // nothing for a library
  /// The function that commands run.
  const runtime::vm::BytecodeFunction& main() const;
};

/// The model, ready to run.  Raises UserError if it has no function "main" or was compiled for CPU features
/// that this machine lacks.
Model load_model(const ModelOptions& options, Progress& progress);

}  // namespace tilewright::cli
