// tilewright tune: measures schedules of a model's kernels.  The loop of tuning is Python's (docs/decisions/0027).
#include "tilewright/cli/command.h"
#include "tilewright/cli/json.h"
#include "tilewright/cli/python_program.h"

namespace tilewright::cli {
namespace {

struct Options {
  std::string path, target = "llvm", database, only, time_limit, report;
  std::vector<std::string> fixed_dims;
  int64_t trials = 200, seed = 0, workers = 0, num_threads = 0;
  bool is_quiet = false, allows_reassociation = false, resumes = false, is_cold = false;
};

constexpr PythonProgram kProgram = {"tilewright.tune.command", "tuning", "tilewright[tune]"};

// The options for the Python package.
std::string text_of(const Options& options) {
  return json_text({{"model", options.path},
                    {"target", options.target},
                    {"db", options.database},
                    {"trials", options.trials},
                    {"seed", options.seed},
                    {"workers", options.workers},
                    {"threads", options.num_threads},
                    {"fix", options.fixed_dims},
                    {"only", options.only},
                    {"time_limit", options.time_limit},
                    {"resume", options.resumes},
                    {"report", options.report},
                    {"cold", options.is_cold},
                    {"quiet", options.is_quiet},
                    {"allow_reassociation", options.allows_reassociation}});
}

void run(const Options& options) {
  require_onnx(options.path);
  become_python(kProgram, text_of(options));
}

std::function<void()> add(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("model", options->path, "an ONNX file")->required();
  app.add_option("--db", options->database,
                 "the file that records are added to; `tilewright compile --db` uses them")
      ->required();
  app.add_option("--trials", options->trials, "candidates to measure, of all kernels together; default 200")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  app.add_option("--time-limit", options->time_limit,
                 "ends after so long, e.g. 90s, 10m or 2h; default: none");
  app.add_flag("--resume", options->resumes,
               "goes on with what the database has: its candidates are not measured again");
  app.add_option("--report", options->report,
                 "a page that is written at the end: curves, scores and times, what the fastest changed");
  app.add_flag("--cold", options->is_cold, "caches are emptied before each measurement");
  app.add_option("--only", options->only, "tunes the kernels whose names contain it; default: all");
  app.add_option("--target", options->target, "as of compile; code for this machine; default llvm");
  app.add_option(
      "--fix", options->fixed_dims,
      "set an open dimension of the inputs to a number, e.g. batch=1; kernels of open extents are left out");
  app.add_option("--workers", options->workers, "threads that compile; default: all CPUs")
      ->check(CLI::Range(int64_t{0}, int64_t{1024}));
  app.add_option("--threads", options->num_threads, "threads of the model's kernels; default: all CPUs")
      ->check(CLI::Range(int64_t{0}, int64_t{1024}));
  app.add_option("--seed", options->seed, "of everything drawn at random; default 0")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--allow-reassociation", options->allows_reassociation,
               "schedules that round otherwise than the default one may win");
  app.add_flag("--quiet,-q", options->is_quiet, "no table");
  return [options] { run(*options); };
}

}  // namespace

extern constinit const Command tune_info = {
    .name = "tune",
    .doc = "measure schedules of a model's kernels, and record the fastest",
    .place = 8,
    .add = add,
    .examples = R"(examples:
  tilewright tune model.onnx --db tune.db --trials 200
  tilewright tune model.onnx --db tune.db --only conv2d --time-limit 10m
  tilewright tune model.onnx --db tune.db --resume --report tune.html
  tilewright compile model.onnx --db tune.db -o model.so
)",
};

}  // namespace tilewright::cli
