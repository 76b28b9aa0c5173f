// tilewright inspect: shows a model at each stage of the compiler.
#include <fmt/ranges.h>

#include "tilewright/cli/command.h"
#include "tilewright/cli/coverage.h"
#include "tilewright/cli/json.h"
#include "tilewright/cli/summary.h"
#include "tilewright/cli/tuning_text.h"
#include "tilewright/driver/compiled_module.h"
#include "tilewright/explain/launches.h"
#include "tilewright/runtime/thread_pool.h"
#include "tilewright/runtime/vm/print.h"
#include "tilewright/script/print.h"
#include "tilewright/support/error.h"
#include "tilewright/support/near.h"
#include "tilewright/support/units.h"
#include "tilewright/target/target.h"

namespace tilewright::cli {
namespace {
struct Options {
  ModelOptions model;
  CompileFlags flags = {};
  std::string stage, function;
  bool shows_schedules = false, shows_records = false, shows_coverage = false, is_json = false;
};

// The functions of `module` that are `wanted`, as script; only the one called `name` if that is not empty.
template <class Wanted>
std::string script_of(const ir::IRModule& module, const std::string& name, Wanted wanted) {
  const script::PrintOptions print_options = {.show_header = false};
  // in a module of its own, so that its name is shown
  if (!name.empty())
    return script::print(ir::with_function(ir::IRModuleNode::make(), name, module->lookup(name)),
                         print_options);
  ir::IRModule shown = module;
  for (size_t n = 0; n < module->functions.size(); ++n) {
    if (!wanted(module->functions[n])) shown = ir::without_function(shown, module->global_vars[n]->name_hint);
  }
  return script::print(shown, print_options);
}

bool is_loop_program(const ir::BaseFunc& func) { return ir::is<tir::PrimFuncNode>(func); }

// The lowered functions of all kernels, or only of the one called `name`.
std::vector<ir::IRModule> lowered_kernels(const driver::CompiledModule& module, const std::string& name) {
  const std::vector<std::string> names = module.names();
  const std::vector<ir::IRModule> lowered = module.lowered();
  if (name.empty()) return lowered;
  for (size_t n = 0; n < names.size(); ++n) {
    if (names[n] == name) return {lowered[n]};
  }
  throw UserError("there is no kernel \"{}\"", name)
      .help("{}", nearest_names_text(name, std::vector<std::string_view>(names.begin(), names.end())));
}

// ---- stages

struct Stage {
  std::string_view name, doc;
  bool needs_kernels;  // needs a compiled model, not only an imported one
  std::string (*text)(const ir::IRModule& imported, const driver::Executable* compiled,
                      const std::string& function);
};

std::string source_text(const driver::Executable* compiled, const std::string& function,
                        std::string_view format) {
  const driver::CompiledModule& module = *driver::as_compiled(compiled->kernels);
  const std::vector<ir::IRModule> kernels = lowered_kernels(module, function);
  std::vector<std::string_view> known;
  for (const driver::SourceFormat& source : module.generator().sources) {
    if (source.name == format) return source.emit(kernels);
    known.push_back(source.name);
  }
  throw UserError("target {} has no stage {}", compiled->code.note("target"), format)
      .help("code for it can be shown as {}", fmt::join(known, ", "));
}

// The kernels of devices, whose targets have a text of their own.
std::string kernels_text(const driver::Executable* compiled, const std::string& function) {
  const driver::CompiledModule& module = *driver::as_compiled(compiled->kernels);
  const std::string& kind = module.generator().device_kind;
  if (kind.empty())
    throw UserError("target {} has no kernels of a device", compiled->code.note("target"))
        .help("give a target of devices, e.g. --target cuda or opencl");
  return source_text(compiled, function, kind);
}

// What kernels are launched with.
std::string launches_text(const driver::Executable* compiled, const std::string& function) {
  const driver::CompiledModule& module = *driver::as_compiled(compiled->kernels);
  if (module.generator().device_kind.empty()) return kernels_text(compiled, function);  // raises
  const ir::Target target = target::parse_target(compiled->code.note("target"));
  std::vector<std::vector<std::string>> rows = {{"kernel", "blocks", "threads", "shared memory"}};
  for (const ir::IRModule& lowered : lowered_kernels(module, function)) {
    for (const explain::Launch& launch : explain::launches_of(lowered, target))
      rows.push_back(
          {launch.kernel, launch.grid, launch.block, bytes_text(static_cast<double>(launch.shared_bytes))});
  }
  return table_text(rows);
}

constexpr Stage kStages[] = {
    {"graph", "the imported graph", false,
     [](const ir::IRModule& imported, const driver::Executable*, const std::string& function) {
       return script_of(imported, function, [](const ir::BaseFunc&) { return true; });
     }},
    {"relax", "the graph after its passes: calls of kernels", true,
     [](const ir::IRModule&, const driver::Executable* compiled, const std::string& function) {
       return script_of(compiled->legalized, function,
                        [](const ir::BaseFunc& func) { return !is_loop_program(func); });
     }},
    {"tir", "the loop programs", true,
     [](const ir::IRModule&, const driver::Executable* compiled, const std::string& function) {
       return script_of(compiled->legalized, function, is_loop_program);
     }},
    {"schedule", "the loop programs after their schedules", true,
     [](const ir::IRModule&, const driver::Executable* compiled, const std::string& function) {
       return script_of(driver::scheduled_kernels(compiled->kernels), function, is_loop_program);
     }},
    {"lowered", "the flat loops that code is made of", true,
     [](const ir::IRModule&, const driver::Executable* compiled, const std::string& function) {
       return source_text(compiled, function, "lowered");
     }},
    {"llvm", "LLVM IR, optimised", true,
     [](const ir::IRModule&, const driver::Executable* compiled, const std::string& function) {
       return source_text(compiled, function, "ll");
     }},
    {"asm", "machine code as assembly", true,
     [](const ir::IRModule&, const driver::Executable* compiled, const std::string& function) {
       return source_text(compiled, function, "asm");
     }},
    {"c", "C source, of target c", true,
     [](const ir::IRModule&, const driver::Executable* compiled, const std::string& function) {
       return source_text(compiled, function, "c");
     }},
    {"kernels", "the kernels of a device as text: CUDA C, OpenCL C, Metal", true,
     [](const ir::IRModule&, const driver::Executable* compiled, const std::string& function) {
       return kernels_text(compiled, function);
     }},
    {"launches", "the blocks, threads and shared memory of the kernels of a device", true,
     [](const ir::IRModule&, const driver::Executable* compiled, const std::string& function) {
       return launches_text(compiled, function);
     }},
    {"vm", "the virtual machine's code", true,
     [](const ir::IRModule&, const driver::Executable* compiled, const std::string&) {
       return runtime::vm::to_text(compiled->code);
     }},
};

const Stage& find_stage(const std::string& name) {
  std::vector<std::string_view> names;
  for (const Stage& stage : kStages) {
    if (stage.name == name) return stage;
    names.push_back(stage.name);
  }
  throw UserError("there is no stage \"{}\"", name).help("{}", nearest_names_text(name, names));
}

std::string stage_text(const Options& options) {
  const Stage& stage = find_stage(options.stage);
  Progress progress(true);
  if (is_library(options.model.path)) {
    if (stage.name != "vm")
      throw UserError("\"{}\" is compiled already: it has no stage {}", options.model.path, stage.name)
          .help("give the ONNX model it was compiled from, or see --stage vm");
    return runtime::vm::to_text(load_model(options.model, progress).machine.executable());
  }
  const ir::IRModule imported = import_onnx(options.model, progress);
  if (!stage.needs_kernels) return stage.text(imported, nullptr, options.function);
  const driver::Executable compiled = compile(imported, options.model, progress);
  return stage.text(imported, &compiled, options.function);
}

// ---- schedules

std::string text_of(const driver::KernelSchedule& kernel) {
  std::string text =
      fmt::format("# {}{}\n{}", kernel.function,
                  kernel.extents.empty() ? "" : fmt::format(", {}", schedule::plan_text(kernel.extents)),
                  kernel.trace.str());
  if (!text.ends_with("\n")) text += "\n";
  for (const schedule::Attempt& each : kernel.attempts) {
    if (!each.is_applied() && each.concerns_block())
      text += fmt::format("# not {} for block {}: {}\n", each.rule, each.block, each.reason->text);
  }
  return text;
}

Json schedule_json(const driver::KernelSchedule& kernel) {
  Json rejections = Json::array();
  for (const schedule::Attempt& each : kernel.attempts) {
    if (!each.is_applied())
      rejections.push_back({{"block", each.block},
                            {"rule", each.rule},
                            {"reason", each.reason->text},
                            {"kind", name_of(each.reason->kind)}});
  }
  Json all = {{"kernel", kernel.function},
              {"trace", Json::parse(kernel.trace.save_json())},
              {"rejections", rejections}};
  if (!kernel.extents.empty()) all["plan"] = schedule::plan_text(kernel.extents);
  return all;
}

std::string schedules_text(const Options& options) {
  require_schedules(options.model);
  Progress progress(true);
  const driver::Executable compiled = compile(import_onnx(options.model, progress), options.model, progress);
  const std::vector<driver::KernelSchedule> schedules = driver::kernel_schedules(compiled.kernels);
  Json list = Json::array();
  std::string text;
  std::vector<std::string_view> names;  // of `schedules`
  for (const driver::KernelSchedule& kernel : schedules) {
    names.push_back(kernel.function);
    if (!options.function.empty() && options.function != kernel.function) continue;
    list.push_back(schedule_json(kernel));
    text += (text.empty() ? "" : "\n") + text_of(kernel);
  }
  if (list.empty() && !options.function.empty())
    throw UserError("there is no kernel \"{}\"", options.function)
        .help("{}", nearest_names_text(options.function, names));
  return options.is_json ? json_text(list) : text;
}

void run(const Options& options) {
  require_onnx_for(options.flags, options.model);
  runtime::set_num_threads(options.model.num_threads);
  if (options.shows_coverage) {
    require_onnx(options.model.path);
    return print(coverage_text(options.model, options.is_json));
  }
  if (options.shows_schedules) return print(schedules_text(options));
  if (options.shows_records) return print(records_text(options.model, options.function, options.is_json));
  if (options.stage.empty()) {
    if (!options.function.empty())
      throw UserError("--function needs a stage").help("add --schedules, --tuning or e.g. --stage tir");
    return print(summary_text(options.model, options.is_json));
  }
  const std::string text = stage_text(options);
  print(options.is_json ? json_text({{"stage", options.stage}, {"text", text}}) : text);
}

std::string stages_doc() {
  std::string doc = "the stage to show:";
  for (const Stage& stage : kStages) doc += fmt::format("\n{}: {}", stage.name, stage.doc);
  return doc + "\nwithout it, a summary of the model";
}

std::function<void()> add(CLI::App& app) {
  auto options = std::make_shared<Options>();
  options->flags = add_model_options(app, options->model, "an ONNX file, or a library that `compile` made");
  CLI::Option* stage = app.add_option("--stage,-s", options->stage, stages_doc());
  app.add_flag("--schedules", options->shows_schedules,
               "the steps that the rules chose for each kernel, and why other rules were not applied")
      ->excludes(stage);
  app.add_flag("--tuning", options->shows_records,
               "the records of tuning that a library carries, as `compile --db` took them")
      ->excludes(stage)
      ->excludes("--schedules");
  app.add_flag(
         "--coverage", options->shows_coverage,
         "what becomes of each node, before anything is built: operators and dtypes that run, values that "
         "only a run knows, operators that are missing")
      ->excludes(stage)
      ->excludes("--schedules")
      ->excludes("--tuning");
  app.add_option("--function", options->function, "only this function");
  app.add_flag("--json", options->is_json, "print JSON");
  return [options] { run(*options); };
}

}  // namespace

extern constinit const Command inspect_info = {
    .name = "inspect",
    .doc = "show a model at a stage of the compiler",
    .place = 5,
    .add = add,
    .examples = R"(examples:
  tilewright inspect model.onnx
  tilewright inspect model.onnx --coverage
  tilewright inspect model.onnx --stage relax
  tilewright inspect model.onnx --stage asm --function matmul
  tilewright inspect model.onnx --stage kernels --target opencl --function matmul
  tilewright inspect model.onnx --schedules --function fused_matmul_add
  tilewright inspect model.so --tuning
)",
};

}  // namespace tilewright::cli
