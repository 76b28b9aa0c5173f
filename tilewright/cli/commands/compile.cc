// tilewright compile: compiles an ONNX model to a file.
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "tilewright/cli/command.h"
#include "tilewright/cli/files.h"
#include "tilewright/cli/json.h"
#include "tilewright/cli/signature.h"
#include "tilewright/driver/target.h"
#include "tilewright/runtime/thread_pool.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/error.h"
#include "tilewright/target/target.h"

namespace tilewright::cli {
namespace {

struct Options {
  ModelOptions model;
  std::string output;
  bool is_forced = false, is_json = false;
};

std::string result_text(const Options& options, const driver::Executable& executable, uint64_t num_bytes,
                        double seconds) {
  if (!options.is_json)
    return fmt::format(
        "wrote {} ({}, {}) in {}\n", options.output, bytes_text(static_cast<double>(num_bytes)),
        count_text(executable.kernels.list_functions().size(), "kernel"), seconds_text(seconds));
  Json stages = Json::array();
  for (const driver::StageTime& time : executable.times)
    stages.push_back({{"name", time.stage}, {"seconds", time.seconds}});
  Json result = {{"output", options.output},
                 {"bytes", num_bytes},
                 {"seconds", seconds},
                 {"target", options.model.target},
                 {"kernels", executable.kernels.list_functions()},
                 {"stages", stages}};
  for (const auto& function : executable.code.functions) {
    if (function.name != "main") continue;
    result["inputs"] = json_of(function.parameters);
    result["outputs"] = json_of(function.results);
  }
  return json_text(result);
}

void run(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  require_onnx(options.model.path);
  runtime::set_num_threads(options.model.num_threads);
  // find all errors of the command line before the model is read
  driver::require_export_format(driver::make_generator(target::parse_target(options.model.target)),
                                options.output);
  const Output output(options.output, options.is_forced);
  // temporary files of an interrupted C compiler are removed with this folder
  setenv("TMPDIR", output.folder().c_str(), 1);
  Progress progress(options.model.is_quiet);
  progress.begin(fmt::format("compiling {} for {}", options.model.path, options.model.target));
  const driver::Executable executable =
      compile(import_onnx(options.model, progress), options.model, progress);
  const auto write_start = std::chrono::steady_clock::now();
  driver::export_library(executable.kernels, output.place());
  const auto num_bytes = std::filesystem::file_size(output.place());
  output.commit();
  const auto end = std::chrono::steady_clock::now();
  progress.stage("write", std::chrono::duration<double>(end - write_start).count());
  print(result_text(options, executable, num_bytes, std::chrono::duration<double>(end - start).count()));
}

std::function<void()> add(CLI::App& app) {
  auto options = std::make_shared<Options>();
  add_model_options(app, options->model, "an ONNX file");
  app.add_option("--output,-o", options->output,
                 "the file to write; its ending selects the format: .so (to load and run), .o, .a, or a "
                 "text, e.g. .ll, .s")
      ->required();
  app.add_flag("--force,-f", options->is_forced, "replace the output if it exists");
  app.add_flag("--json", options->is_json, "print the result as JSON");
  return [options] { run(*options); };
}

}  // namespace

extern constinit const Command compile_info = {
    .name = "compile",
    .doc = "compile an ONNX model to a library that runs by itself, an object or text",
    .place = 1,
    .add = add,
    .examples = R"(examples:
  tilewright compile model.onnx -o model.so
  tilewright compile model.onnx -o model.so --target "llvm -mcpu=skylake-avx512" --opt-level 3
  tilewright compile model.onnx -o model.a --target "llvm -mtriple=aarch64-linux-gnu"
  tilewright compile model.onnx -o model.so --target "cuda -arch=sm_80,sm_90a"
)",
};

}  // namespace tilewright::cli
