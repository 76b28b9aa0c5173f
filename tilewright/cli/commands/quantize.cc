// tilewright quantize: rounds weights and activations of a model to 8 bits.  The work is Python's.
#include "tilewright/cli/command.h"
#include "tilewright/cli/json.h"
#include "tilewright/cli/python_program.h"
#include "tilewright/runtime/thread_pool.h"

namespace tilewright::cli {
namespace {

struct Options {
  std::string path, calibration, output, report, method = "minmax";
  std::vector<std::string> kept;
  int64_t weight_bits = 8, num_threads = 0;
};

constexpr PythonProgram kProgram = {"tilewright.models.quantize_command", "quantizing", "tilewright"};

void run(const Options& options) {
  require_onnx(options.path);
  become_python(kProgram, json_text({{"model", options.path},
                                     {"calibration", options.calibration},
                                     {"output", options.output},
                                     {"report", options.report},
                                     {"method", options.method},
                                     {"weight_bits", options.weight_bits},
                                     {"keep", options.kept},
                                     {"threads", options.num_threads}}));
}

std::function<void()> add(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("model", options->path, "an ONNX file of opset 13 or later")->required();
  app.add_option("--calibration,-c", options->calibration,
                 "an .npz file with examples of each input; the first axis counts samples")
      ->required();
  app.add_option("--output,-o", options->output, "the quantized ONNX file")->required();
  app.add_option(
         "--method", options->method,
         "how ranges of activations follow from the examples: minmax reaches to the least and the largest "
         "number, entropy cuts where clipping loses least information; default minmax")
      ->check(CLI::IsMember({"minmax", "entropy"}));
  app.add_option(
         "--weight-bits", options->weight_bits,
         "7 where onnxruntime is to run the model on a processor without VNNI: it adds pairs of products in "
         "16 bits there, which 8 bits overflow; default 8")
      ->check(CLI::IsMember({"7", "8"}));
  app.add_option("--keep", options->kept, "the name of a node that stays as it is; may be repeated");
  app.add_option("--report", options->report, "the error of each layer as a JSON file, too");
  app.add_option("--threads", options->num_threads, "threads to use; default all CPUs")
      ->check(CLI::Range(0, runtime::kMaxThreads));
  return [options] { run(*options); };
}

}  // namespace

extern constinit const Command quantize_info = {
    .name = "quantize",
    .doc = "round weights and activations of a model to 8 bits",
    .place = 7,
    .add = add,
    .examples = R"(examples:
  tilewright quantize model.onnx --calibration x.npz -o q.onnx
  tilewright quantize model.onnx --calibration x.npz -o q.onnx --method entropy --keep head --report errors.json
)",
};

}  // namespace tilewright::cli
