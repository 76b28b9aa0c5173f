#include "tilewright/cli/command.h"

#include <fmt/ranges.h>

#include "tilewright/cli/files.h"
#include "tilewright/cli/signature.h"
#include "tilewright/driver/target.h"
#include "tilewright/driver/target_of_device.h"
#include "tilewright/runtime/device.h"
#include "tilewright/runtime/thread_pool.h"
#include "tilewright/runtime/vm/print.h"
#include "tilewright/support/error.h"

namespace tilewright::cli {
namespace {

std::string target_doc() {
  std::vector<std::string_view> names;
  for (const driver::TargetInfo* info : driver::all_targets()) names.push_back(info->name);
  return fmt::format(
      "the target of code generation, one of {} with attributes, e.g. \"llvm -mcpu=skylake\"; default llvm",
      fmt::join(names, ", "));
}

}  // namespace

CompileFlags add_model_options(CLI::App& app, ModelOptions& options, const char* path_doc) {
  app.add_option("model", options.path, path_doc)->required();
  CompileFlags flags;
  flags.target = app.add_option("--target", options.target, target_doc());
  flags.opt_level =
      app.add_option("--opt-level", options.opt_level,
                     "0 one kernel for each operator, 1 also fold constants, 2 also fuse kernels, "
                     "3 also change rounding; default 2");
  flags.opt_level->check(CLI::Range(0, 3));
  flags.precision = app.add_option("--precision", options.precision, "of float32 products; default exact");
  flags.precision->check(CLI::IsMember({"exact", "bf16", "bf16x3", "bf16x6", "bf16x9"}));
  flags.weights =
      app.add_option("--weights", options.weights,
                     "the dtype that constant weights of matmuls are rounded to where reading them "
                     "limits the speed; default float32: no rounding");
  flags.weights->check(CLI::IsMember({"float32", "int8", "int4"}));
  flags.fix =
      app.add_option("--fix", options.fixed_dims,
                     "set an open dimension of the inputs to a number, e.g. batch=1, or x.0=1 for one "
                     "without a name; default: all stay open");
  flags.best_at = app.add_option("--best-at", options.best_at,
                                 "extents of open dimensions that schedules are chosen for, e.g. batch=8, "
                                 "or batch=1,8, between which kernels choose; "
                                 "default: 8 pictures of 224 x 224, others without a preference");
  flags.database = app.add_option("--db", options.database,
                                  "a file of tuning records, whose schedules kernels take; default: none");
  flags.check_bounds =
      app.add_flag("--check-bounds", options.check_bounds,
                   "check at run time each memory access that is not proved to be in bounds; slow");
  flags.reproducible =
      app.add_flag("--reproducible", options.is_reproducible,
                   "float32 results have the same bits with any extents of open dimensions, threads "
                   "and tuning records; convolutions of 3 x 3 are slower");
  app.add_option("--threads,--num-threads", options.num_threads, "threads to use; default all CPUs")
      ->check(CLI::Range(1, runtime::kMaxThreads));
  app.add_flag("--quiet,-q", options.is_quiet, "no progress lines");
  return flags;
}

void add_device_option(CLI::App& app, ModelOptions& options) {
  app.add_option("--device", options.device,
                 "the device to run on, e.g. cuda:0 or opencl:1; without --target, the model is compiled for "
                 "it; default: the "
                 "first that the model is compiled for");
}

void take_target_of_device(const CompileFlags& flags, ModelOptions& options) {
  if (options.device.empty() || flags.target->count() > 0 || is_library(options.path)) return;
  options.target = driver::target_of_device(runtime::Device::parse(options.device), "--device")->str();
}

void require_onnx_for(const CompileFlags& flags, const ModelOptions& options) {
  if (!is_library(options.path)) return;
  for (const CLI::Option* option : {flags.target, flags.opt_level, flags.precision, flags.weights, flags.fix,
                                    flags.best_at, flags.database, flags.check_bounds, flags.reproducible}) {
    if (option->count() > 0)
      throw UserError("{} does not apply to \"{}\", which is compiled already", option->get_name(),
                      options.path)
          .help("give the option to `tilewright compile`");
  }
}

void require_onnx(const std::string& path) {
  if (is_library(path))
    throw UserError("\"{}\" is compiled already", path).help("give the ONNX model it was compiled from");
}

void require_schedules(const ModelOptions& options) {
  if (is_library(options.path))
    throw UserError("\"{}\" is compiled already and has no schedules", options.path)
        .help("give the ONNX model it was compiled from");
}

void add_input_options(CLI::App& app, InputOptions& options, const char* input_doc) {
  CLI::Option* input = app.add_option("--input,-i", options.file, input_doc);
  CLI::Option* random = app.add_option_function<uint64_t>(
      "--random",
      [&options](const uint64_t& seed) {
        options.seed = seed;
        options.is_random = true;
      },
      "random inputs from this seed: floats in [0, 1), integers 0 and 1, indices from 0 up to the extent "
      "that "
      "they index, or 0 where that is open");
  random->excludes(input);
  app.add_option("--dim", options.dims, "size of a symbolic dimension of random inputs, e.g. n=8; default 1")
      ->excludes(input);
}

std::vector<runtime::Value> make_inputs(const InputOptions& options, const Model& model) {
  if (!options.file.empty())
    return match_inputs(model.main(), read_arrays(read_file(options.file), options.file), options.file);
  return random_inputs(model.main(), options.seed, parse_dim_sizes("--dim", options.dims),
                       parse_index_bounds(model.machine.executable().note("indices")));
}

runtime::Value call_main(const Model& model, const std::vector<runtime::Value>& inputs) {
  try {
    return model.machine.invoke("main", inputs);
  } catch (Error& error) {
    const std::string& help = error.help_text();
    if (error.kind() == Error::Kind::kUser && (help.empty() || help == runtime::vm::usage(model.main())))
      error.set_help(fmt::format("the inputs are:{}", list_text(model.main().parameters)));
    throw;
  }
}

}  // namespace tilewright::cli
