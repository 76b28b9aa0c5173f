// tilewright diff: the first operator of a model that computes something else than a reference.  The work is Python's,
// which can ask onnxruntime, too.
#include "tilewright/cli/command.h"
#include "tilewright/cli/json.h"
#include "tilewright/cli/python_program.h"
#include "tilewright/runtime/thread_pool.h"

namespace tilewright::cli {
namespace {

struct Options {
  std::string path, reference, input, watch, output;
  std::vector<std::string> dims, dumped;
  int64_t seed = 0, num_threads = 0;
  double rtol = -1, atol = 1e-5;
};

constexpr PythonProgram kProgram = {"tilewright.models.diff_command", "comparing", "tilewright"};

std::string text_of(const Options& options) {
  return json_text({{"model", options.path},
                    {"reference", options.reference},
                    {"input", options.input},
                    {"seed", options.seed},
                    {"dim", options.dims},
                    {"watch", options.watch},
                    {"dump", options.dumped},
                    {"output", options.output},
                    {"rtol", options.rtol < 0 ? Json() : Json(options.rtol)},
                    {"atol", options.atol},
                    {"threads", options.num_threads}});
}

void run(Options options) {
  require_onnx(options.path);
  if (options.output.empty()) options.output = options.dumped.empty() ? "diff" : "dump.npz";
  become_python(kProgram, text_of(options));
}

std::function<void()> add(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("model", options->path, "an ONNX file")->required();
  app.add_option(
      "--reference,-r", options->reference,
      "what is right: interpreter, onnxruntime where it is installed, or an .npz file of values by "
      "name; default interpreter");
  CLI::Option* input =
      app.add_option("--input,-i", options->input, "an .npz file with an array for each input of the model");
  app.add_option("--random", options->seed,
                 "random inputs from this seed: floats in [0, 1), integers 0 and 1; default 0")
      ->check(CLI::NonNegativeNumber)
      ->excludes(input);
  app.add_option("--dim", options->dims, "size of a symbolic dimension of random inputs, e.g. n=8; default 1")
      ->excludes(input);
  CLI::Option* watch =
      app.add_option("--watch", options->watch,
                     "no comparison: the first node whose results have a NaN; inf: a NaN or an infinity");
  watch->check(CLI::IsMember({"nan", "inf"}));
  app.add_option("--dump", options->dumped,
                 "no comparison: writes the results of the node, or the value, of this name; may be repeated")
      ->excludes(watch);
  app.add_option(
      "--output,-o", options->output,
      "the folder of the smallest model that differs, its inputs and what is expected, default diff; of "
      "--dump an .npz file, default dump.npz");
  app.add_option("--rtol", options->rtol,
                 "part of each number by which it may differ; default by dtype, 1e-3 for float32")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--atol", options->atol,
                 "part of a tensor's largest number by which its numbers may differ; default 1e-5")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--threads", options->num_threads, "threads to use; default all CPUs")
      ->check(CLI::Range(0, runtime::kMaxThreads));
  return [options] { run(*options); };
}

}  // namespace

extern constinit const Command diff_info = {
    .name = "diff",
    .doc = "find the first operator of a model that differs from a reference",
    .place = 6,
    .add = add,
    .examples = R"(examples:
  tilewright diff model.onnx --reference onnxruntime --input x.npz
  tilewright diff model.onnx --random 0 --dim batch=2
  tilewright diff model.onnx --input x.npz --watch nan
  tilewright diff model.onnx --input x.npz --dump conv1 -o conv1.npz
  tilewright diff diff/model.onnx --input diff/inputs.npz --reference diff/expected.npz
)",
};

}  // namespace tilewright::cli
