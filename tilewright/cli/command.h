// The commands of the program.  The folder commands/ is the registry: each file defines
// `extern constinit const Command <stem>_info`.  Also what several commands share: options, inputs, calls.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

#include "tilewright/cli/model.h"

namespace tilewright::cli {

/// A command: `add` defines its options on `app` and returns the function that runs it after parsing.
struct Command {
  const char* name;
  const char* doc;  // one line
  int place;        // in `tilewright --help`: smaller numbers first, equal ones by name
  std::function<void()> (*add)(CLI::App& app);
  const char* examples;  // at the end of its help; the list of docs/cli.md shows the first
};

/// Made from the folder commands/.
extern const Command* const k_commands[];
extern const std::size_t k_commands_count;

/// The options that set ModelOptions.  They are also returned, because a library accepts none of the options
/// for compiling.
struct CompileFlags {
  CLI::Option *target, *opt_level, *precision, *weights, *fix, *best_at, *database, *check_bounds,
      *reproducible;
};
CompileFlags add_model_options(CLI::App& app, ModelOptions& options, const char* path_doc);
/// --device; take_target_of_device must be called before the model is compiled.
void add_device_option(CLI::App& app, ModelOptions& options);
/// Without --target, a model that is to run on a device is compiled for it.  Raises UserError if there is no such device.
void take_target_of_device(const CompileFlags& flags, ModelOptions& options);
/// Raises UserError if the model is a library and options for compiling were given.
void require_onnx_for(const CompileFlags& flags, const ModelOptions& options);
/// Raises UserError if the model at `path` is a library.
void require_onnx(const std::string& path);
/// Raises UserError if the model is a library, which has code but no schedules.
void require_schedules(const ModelOptions& options);

/// --input, --random and --dim.
struct InputOptions {
  std::string file;
  uint64_t seed = 0;
  bool is_random = false;
  std::vector<std::string> dims;
};
void add_input_options(CLI::App& app, InputOptions& options, const char* input_doc);
/// The arguments of main that the options request: from the file, or random.
std::vector<runtime::Value> make_inputs(const InputOptions& options, const Model& model);

/// Calls main.  Errors of the model's checks get a help line that lists its inputs.
runtime::Value call_main(const Model& model, const std::vector<runtime::Value>& inputs);

}  // namespace tilewright::cli
