// tilewright explain: shows what limits the speed of a model.
#include "tilewright/explain/explain.h"

#include <filesystem>
#include <optional>

#include "tilewright/cli/command.h"
#include "tilewright/cli/files.h"
#include "tilewright/runtime/thread_pool.h"
#include "tilewright/support/error.h"

namespace tilewright::cli {
namespace {

struct Options {
  ModelOptions model;
  InputOptions input;
  std::string kernel, html;
  size_t num_details = 5;
  bool is_json = false, measures_again = false;
};

void run(const Options& options) {
  require_schedules(options.model);
  runtime::set_num_threads(options.model.num_threads);
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
  add_model_options(app, options->model, "an ONNX file");
  add_input_options(app, options->input, "a .npz or .npy with the inputs; default: random from seed 0");
  app.add_option("--kernel", options->kernel, "show one kernel in full, with the steps of its schedule");
  app.add_option("--details", options->num_details, "number of kernels to explain in detail; default 5")
      ->check(CLI::Range(0, 1'000'000));
  app.add_option("--html", options->html,
                 "also write a page with the roofline plot and the time line of a call");
  app.add_flag("--measure", options->measures_again, "measure the machine's peaks again");
  app.add_flag("--json", options->is_json, "print the result as JSON; times are in seconds");
  return [options] { run(*options); };
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
)",
};

}  // namespace tilewright::cli
