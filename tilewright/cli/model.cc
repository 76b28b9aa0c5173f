#include "tilewright/cli/model.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>

#include "tilewright/arith/likely.h"
#include "tilewright/cli/signature.h"
#include "tilewright/driver/reproducible.h"
#include "tilewright/driver/target.h"
#include "tilewright/frontend/onnx/import/import.h"
#include "tilewright/records/sqlite_database.h"
#include "tilewright/support/error.h"
#include "tilewright/target/target.h"
#include "tilewright/tir/builder.h"

namespace tilewright::cli {
namespace {
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

bool is_library(const std::string& path) {
  if (path.ends_with(".so")) return true;
  std::error_code problem;
  if (!std::filesystem::is_regular_file(path, problem)) return false;  // reading a pipe would block
  char magic[4] = {};
  std::ifstream(path, std::ios::binary).read(magic, sizeof magic);
  return std::string_view(magic, sizeof magic) ==
         "\x7f"
         "ELF";
}

frontend::onnx::Model read_onnx(const ModelOptions& options) {
  frontend::onnx::Model model = frontend::onnx::load_model(options.path);
  frontend::onnx::fix_dims(model, parse_dim_sizes("--fix", options.fixed_dims));
  return model;
}

ir::IRModule import_onnx(const ModelOptions& options, Progress& progress) {
  const Clock::time_point start = Clock::now();
  ir::IRModule module = frontend::onnx::import_model(read_onnx(options));
  progress.stage("import", seconds_since(start));
  return module;
}

driver::Executable compile(ir::IRModule module, const ModelOptions& options, Progress& progress) {
  ir::PassContext context;
  context.opt_level = options.opt_level;
  context.config.set("precision.policy", tir::string_imm(options.precision));
  context.config.set("quantize_weights.dtype", tir::string_imm(options.weights));
  for (const auto& [name, sizes] : parse_size_lists("--best-at", options.best_at))
    context.likely_sizes.set(name, arith::likely_item(sizes));
  std::optional<records::SqliteDatabase> database;
  if (!options.database.empty()) {
    if (!std::filesystem::exists(options.database))
      throw UserError("there is no file \"{}\"", options.database).help("`tilewright tune` makes it");
    database.emplace(options.database);
  }
  const ir::Target target = target::parse_target(options.target);
  const records::Database* records = database ? &*database : nullptr;
  std::optional<driver::Reproducible> reproducible;
  if (options.is_reproducible) records = reproducible.emplace(target, context, records).records();
  return driver::build_graph(
      std::move(module), target, context, [&](const driver::StageTime& time) { progress(time); },
      options.check_bounds, records);
}

const runtime::vm::BytecodeFunction& Model::main() const {
  for (const runtime::vm::BytecodeFunction& function : machine.executable().functions) {
    if (function.name == "main" && function.is_public) return function;
  }
  (void)machine.get_function("main");  // raises
  throw InternalError("the machine has a function \"main\", but its executable has none");
}

Model load_model(const ModelOptions& options, Progress& progress) {
  Model model;
  std::vector<runtime::Device> devices;
  if (!options.device.empty()) devices.push_back(runtime::Device::parse(options.device));
  if (is_library(options.path)) {
    const Clock::time_point start = Clock::now();
    model.machine = driver::load_model(runtime::Module::load(options.path), devices);
    progress.stage("load", seconds_since(start));
  } else {
    // fails before the model is read if the target is wrong
    const driver::Generator generator = driver::make_generator(target::parse_target(options.target));
    if (!generator.is_host)
      throw UserError("target {} is for {}, but the model is to run on this machine", options.target,
                      generator.machine)
          .help("write a file for that machine with `tilewright compile`");
    progress.begin(fmt::format("compiling {} for {}", options.path, options.target));
    model.compiled = compile(import_onnx(options, progress), options, progress);
    model.machine = model.compiled->machine(devices);
  }
  (void)model.main();
  return model;
}

}  // namespace tilewright::cli
