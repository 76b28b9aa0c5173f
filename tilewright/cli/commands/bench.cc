// tilewright bench: measures the time of a model, kernel by kernel.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <optional>

#include "tilewright/cli/command.h"
#include "tilewright/cli/json.h"
#include "tilewright/cli/signature.h"
#include "tilewright/explain/profile.h"
#include "tilewright/runtime/device/accelerator.h"
#include "tilewright/runtime/thread_pool.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/error.h"

namespace tilewright::cli {
namespace {
using Clock = std::chrono::steady_clock;
using runtime::Value;

struct Options {
  ModelOptions model;
  CompileFlags flags = {};
  InputOptions input;
  int repeat = 0, warmup = 3;
  bool is_json = false;
};

/// Seconds of each call, sorted.
struct Latency {
  std::vector<double> seconds;
  /// The smallest measured time that at least the fraction `part` of the calls did not exceed.
  double percentile(double part) const {
    const auto rank = static_cast<size_t>(std::ceil(part * static_cast<double>(seconds.size())));
    return seconds[std::max<size_t>(rank, 1) - 1];
  }
  double mean() const {
    return std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
  }
};

Latency measure(const Model& model, const std::vector<Value>& inputs, const Options& options) {
  for (int n = 0; n < options.warmup; ++n) (void)call_main(model, inputs);
  explain::wait_for_device(model.machine);
  // without --repeat: for one second, at least 10 and at most 10000 calls
  Latency latency;
  const Clock::time_point begin = Clock::now();
  auto is_enough = [&](size_t count) {
    if (options.repeat > 0) return count >= static_cast<size_t>(options.repeat);
    return count >= 10000 || (count >= 10 && Clock::now() - begin > std::chrono::seconds(1));
  };
  while (!is_enough(latency.seconds.size())) {
    const Clock::time_point start = Clock::now();
    const Value result = model.machine.invoke("main", inputs);
    explain::wait_for_device(model.machine);
    latency.seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::sort(latency.seconds.begin(), latency.seconds.end());
  return latency;
}

struct Memory {
  int64_t arena = 0;  // memory for tensors of known size between kernels; -1: its size depends on the inputs
  int64_t constants = 0;
  int64_t process_peak = 0;
  std::optional<int64_t>
      device;  // of the device, taken since the model was loaded; nothing if its driver does not tell
};

// Bytes of the device that nobody has; nothing if its driver does not tell.
std::optional<int64_t> free_memory(const std::string& device_name) {
  const runtime::Device device = runtime::Device::parse(device_name);
  if (device.is_cpu()) return std::nullopt;
  const int64_t bytes = runtime::accelerator(device, "bench").free_memory(device.id);
  return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

// The tensors of `inputs` where the model runs, so that calls copy nothing.
std::vector<Value> on_device(const std::vector<Value>& inputs, runtime::Device device) {
  if (device.is_cpu()) return inputs;
  std::vector<Value> there;
  for (const Value& input : inputs)
    there.push_back(input.tensor_object() ? Value(input.as_tensor().to(device)) : input);
  return there;
}

Memory memory_of(const Model& model) {
  Memory memory;
  for (const runtime::Tensor& constant : model.machine.executable().constants)
    memory.constants += constant.num_bytes();
  const runtime::vm::BytecodeFunction& main = model.main();
  for (const runtime::vm::Instruction& instruction : main.code) {
    if (instruction.opcode != runtime::vm::Opcode::kArena) continue;
    const runtime::vm::Operand& size = main.operands[instruction.b];
    memory.arena = size.kind == runtime::vm::Operand::Kind::kImmediate ? size.bits : -1;
  }
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  memory.process_peak = usage.ru_maxrss * 1024;  // Linux counts it in KiB
  return memory;
}

struct Result {
  std::string device;  // "NVIDIA H100 80GB HBM3 (cuda:0)"; "" for the CPU
  Latency latency;
  std::vector<explain::KernelTime> kernels;
  Memory memory;
};

std::string gflops_text(const explain::KernelTime& kernel) {
  if (!kernel.flops || kernel.seconds <= 0) return "-";
  return *kernel.flops == 0 ? "" : fmt::format("{:.2f}", *kernel.flops / kernel.seconds * 1e-9);
}

std::string table(const Result& result, const std::vector<Value>& inputs, const Model& model) {
  std::string text;
  for (size_t n = 0; n < inputs.size(); ++n)
    text += fmt::format("input     {}  {}\n", model.main().parameters[n].name, inputs[n].type_str());
  if (!result.device.empty()) text += fmt::format("device    {}\n", result.device);
  const Latency& latency = result.latency;
  text += fmt::format("latency   p50 {}  p90 {}  p99 {}  min {}  mean {}  ({}, {})\n",
                      seconds_text(latency.percentile(0.5)), seconds_text(latency.percentile(0.9)),
                      seconds_text(latency.percentile(0.99)), seconds_text(latency.seconds.front()),
                      seconds_text(latency.mean()), count_text(latency.seconds.size(), "call"),
                      count_text(runtime::num_threads(), "thread"));
  const Memory& memory = result.memory;
  text += fmt::format(
      "memory    {} constants{}, {} arena, {}{} peak of the process\n\n",
      bytes_text(static_cast<double>(memory.constants)), result.device.empty() ? "" : " on the device",
      memory.arena < 0 ? "?" : bytes_text(static_cast<double>(memory.arena)),
      memory.device ? bytes_text(static_cast<double>(*memory.device)) + " of the device, " : "",
      bytes_text(static_cast<double>(memory.process_peak)));
  double total = 0;
  for (const explain::KernelTime& kernel : result.kernels) total += kernel.seconds;
  std::vector<std::vector<std::string>> rows = {{"kernel", "calls", "time", "share", "GFLOP/s"}};
  for (const explain::KernelTime& kernel : result.kernels) {
    rows.push_back({kernel.name, std::to_string(kernel.num_calls), seconds_text(kernel.seconds),
                    fmt::format("{:.1f} %", kernel.seconds / total * 100), gflops_text(kernel)});
  }
  rows.push_back({"in all", "", seconds_text(total)});
  return text + table_text(rows);
}

std::string json(const Options& options, const Result& result, const std::vector<Value>& inputs,
                 const Model& model) {
  Json input_list = Json::array(), kernels = Json::array();
  for (size_t n = 0; n < inputs.size(); ++n)
    input_list.push_back({{"name", model.main().parameters[n].name}, {"type", inputs[n].type_str()}});
  for (const explain::KernelTime& kernel : result.kernels) {
    Json row = {{"name", kernel.name}, {"calls", kernel.num_calls}, {"seconds", kernel.seconds}};
    row["flops"] = kernel.flops ? Json(*kernel.flops) : Json();
    kernels.push_back(std::move(row));
  }
  const Latency& latency = result.latency;
  const Memory& memory = result.memory;
  const Json all = {{"model", options.model.path},
                    {"target", std::string(model.machine.executable().note("target"))},
                    {"device", result.device.empty() ? Json() : Json(result.device)},
                    {"threads", runtime::num_threads()},
                    {"inputs", input_list},
                    {"calls", latency.seconds.size()},
                    {"latency_s",
                     {{"p50", latency.percentile(0.5)},
                      {"p90", latency.percentile(0.9)},
                      {"p99", latency.percentile(0.99)},
                      {"min", latency.seconds.front()},
                      {"mean", latency.mean()}}},
                    {"memory_bytes",
                     {{"constants", memory.constants},
                      {"arena", memory.arena < 0 ? Json() : Json(memory.arena)},
                      {"device", memory.device ? Json(*memory.device) : Json()},
                      {"process_peak", memory.process_peak}}},
                    {"kernels", kernels}};
  return json_text(all);
}

void run(const Options& options) {
  require_onnx_for(options.flags, options.model);
  runtime::set_num_threads(options.model.num_threads);
  Progress progress(options.model.is_quiet);
  const std::optional<int64_t> free =
      options.model.device.empty() ? std::nullopt : free_memory(options.model.device);
  const Model model = load_model(options.model, progress);
  const runtime::Device device = explain::device_of(model.machine);
  const std::vector<Value> inputs = on_device(make_inputs(options.input, model), device);
  Result result;
  if (!device.is_cpu())
    result.device = fmt::format("{} ({})", runtime::accelerator(device, "bench").properties(device.id).name,
                                device.str());
  result.latency = measure(model, inputs, options);
  result.kernels =
      explain::profile(model.machine, model.compiled ? model.compiled->legalized : ir::IRModule(), inputs,
                       std::min<size_t>(result.latency.seconds.size(), 100))
          .kernels;
  result.memory = memory_of(model);
  if (free) result.memory.device = std::max<int64_t>(*free - free_memory(device.str()).value_or(*free), 0);
  print(options.is_json ? json(options, result, inputs, model) : table(result, inputs, model));
}

std::function<void()> add(CLI::App& app) {
  auto options = std::make_shared<Options>();
  options->flags = add_model_options(app, options->model, "an ONNX file, or a library that `compile` made");
  add_input_options(app, options->input, "a .npz or .npy with the inputs; default: random from seed 0");
  add_device_option(app, options->model);
  app.add_option("--repeat,-n", options->repeat, "timed calls; default: for one second, at least 10")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--warmup", options->warmup, "untimed calls before; default 3")
      ->check(CLI::Range(0, 1'000'000));
  app.add_flag("--json", options->is_json, "print the result as JSON; times are in seconds");
  return [options] {
    take_target_of_device(options->flags, options->model);
    run(*options);
  };
}

}  // namespace

extern constinit const Command bench_info = {
    .name = "bench",
    .doc = "measure a model: latency, kernels, memory",
    .place = 3,
    .add = add,
    .examples = R"(examples:
  tilewright bench model.onnx
  tilewright bench model.so --threads 1 --repeat 100
  tilewright bench model.onnx --dim batch=16 --json
  tilewright bench model.onnx --device opencl:0
)",
};

}  // namespace tilewright::cli
