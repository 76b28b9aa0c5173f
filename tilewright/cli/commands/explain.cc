// tilewright explain: shows what limits the speed of a model.
#include "tilewright/explain/explain.h"

#include <filesystem>
#include <optional>

#include "tilewright/cli/command.h"
#include "tilewright/cli/files.h"
#include "tilewright/cli/signature.h"
#include "tilewright/explain/device.h"
#include "tilewright/runtime/device.h"
#include "tilewright/runtime/thread_pool.h"
#include "tilewright/support/error.h"
#include "tilewright/target/gpu_features.h"
#include "tilewright/target/target.h"

namespace tilewright::cli {
namespace {

struct Options {
  ModelOptions model;
  CompileFlags flags = {};
  InputOptions input;
  std::string kernel, html;
  size_t num_details = 5;
  bool is_json = false, measures_again = false, asks_ptxas = false;
};

// True if there is the device that the model is to run on, the first of its kind unless --device names one.
bool has_device(const ModelOptions& model, const ir::Target& target) {
  if (!model.device.empty()) return true;  // load_model says if it is missing
  try {
    const runtime::Device device = runtime::Device::parse(target->kind_name);
    return runtime::device_interface(device).num_devices() > 0;
  } catch (const Error&) {
    return false;
  }
}

void explain_for_gpu(const Options& options, const ir::Target& target) {
  if (!options.html.empty())
    throw UserError("--html has no page for target {}", target->kind_name).help("use --json");
  Progress progress(options.model.is_quiet);
  const driver::Executable compiled = compile(import_onnx(options.model, progress), options.model, progress);
  const std::string name = std::filesystem::path(options.model.path).filename().string();
  const explain::RegisterSource registers{{}, options.asks_ptxas};
  explain::Sizes sizes = parse_dim_sizes("--dim", options.input.dims);
  Model model;
  std::vector<runtime::Value> inputs;
  if (has_device(options.model, target)) {
    std::optional<runtime::Device> device;
    if (!options.model.device.empty()) device = runtime::Device::parse(options.model.device);
    model.machine = compiled.machine(device ? std::vector{*device} : std::vector<runtime::Device>());
    inputs = make_inputs(options.input, model);
    (void)call_main(model, inputs);  // so that errors of the inputs list the model's inputs
    sizes = explain::sizes_of_call(compiled.legalized, inputs);
  }
  explain::DeviceExplanation explanation = explain::explain_for_gpu(compiled, target, name, sizes, registers);
  if (model.machine) explain::add_times(&explanation, compiled, model.machine, inputs);
  if (!options.kernel.empty()) return print(to_text(explanation, options.kernel));
  print(options.is_json ? to_json(explanation) : to_text(explanation, options.num_details));
}

void run(const Options& options) {
  require_schedules(options.model);
  runtime::set_num_threads(options.model.num_threads);
  const ir::Target target = target::parse_target(options.model.target);
  if (target::is_gpu(target)) return explain_for_gpu(options, target);
  if (options.asks_ptxas)
    throw UserError("--ptxas knows the registers of target cuda, but the target is {}", target->kind_name);
  std::optional<Output> page;
  if (!options.html.empty()) page.emplace(options.html, true);
  Progress progress(options.model.is_quiet);
  Model model;
  model.compiled = compile(import_onnx(options.model, progress), options.model, progress);
  model.machine = model.compiled->machine();
  const std::vector<runtime::Value> inputs = make_inputs(options.input, model);
  (void)call_main(model, inputs);  // so that errors of the inputs list the model's inputs
  const explain::Peaks peaks = explain::peaks_of_machine(options.measures_again);
  const std::string name = std::filesystem::path(options.model.path).filename().string();
  const explain::Explanation explanation = explain::explain(*model.compiled, inputs, peaks, name);
  explain::keep(explanation.peaks);
  if (page) {
    page->write(to_html(explanation));
    page->commit();
    progress.begin("wrote " + options.html);
  }
  if (!options.kernel.empty()) return print(to_text(explanation, options.kernel));
  print(options.is_json ? to_json(explanation) : to_text(explanation, options.num_details));
}

std::function<void()> add(CLI::App& app) {
  auto options = std::make_shared<Options>();
  options->flags = add_model_options(app, options->model, "an ONNX file");
  add_input_options(app, options->input, "a .npz or .npy with the inputs; default: random from seed 0");
  add_device_option(app, options->model);
  app.add_flag(
      "--ptxas", options->asks_ptxas,
      "ask NVIDIA's assembler for the registers of kernels, where nvcc is found; about a second each");
  app.add_option("--kernel", options->kernel, "show one kernel in full, with the steps of its schedule");
  app.add_option("--details", options->num_details, "number of kernels to explain in detail; default 5")
      ->check(CLI::Range(0, 1'000'000));
  app.add_option("--html", options->html,
                 "also write a page with the roofline plot and the time line of a call");
  app.add_flag("--measure", options->measures_again, "measure the machine's peaks again");
  app.add_flag("--json", options->is_json, "print the result as JSON; times are in seconds");
  return [options] {
    take_target_of_device(options->flags, options->model);
    run(*options);
  };
}

}  // namespace

extern constinit const Command explain_info = {
    .name = "explain",
    .doc = "show what limits each kernel of a model, and what to try",
    .place = 4,
    .add = add,
    .examples = R"(examples:
  tilewright explain model.onnx
  tilewright explain model.onnx --kernel fused_matmul_add --threads 1
  tilewright explain model.onnx --html model.html --quiet
  tilewright explain model.onnx --target nvidia/nvidia-h100 --ptxas
)",
};

}  // namespace tilewright::cli
