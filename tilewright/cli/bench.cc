// tilewright bench: how long a model takes, kernel by kernel.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>

#include "tilewright/analysis/flops.h"
#include "tilewright/cli/command.h"
#include "tilewright/cli/json.h"
#include "tilewright/cli/signature.h"
#include "tilewright/relax/vm_codegen.h"
#include "tilewright/runtime/thread_pool.h"
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
  /// The smallest measured time that at least `part` of the calls did not exceed.
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
  // without --repeat: for a second, at least 10 and at most 10000 calls
  Latency latency;
  const Clock::time_point begin = Clock::now();
  auto is_enough = [&](size_t count) {
    if (options.repeat > 0) return count >= static_cast<size_t>(options.repeat);
    return count >= 10000 || (count >= 10 && Clock::now() - begin > std::chrono::seconds(1));
  };
  while (!is_enough(latency.seconds.size())) {
    const Clock::time_point start = Clock::now();
    const Value result = model.machine.invoke("main", inputs);
    latency.seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::sort(latency.seconds.begin(), latency.seconds.end());
  return latency;
}

/// What one kernel took of each call of main.
struct KernelTime {
  std::string name;
  int64_t num_calls = 0;            // in one call of main
  double seconds = 0;               // the median over calls of main
  std::optional<double> flops = 0;  // of one call of main; nothing if unknown
  std::vector<double> seconds_of_round = {};
};

/// Counts the FLOPs of calls: from the loop programs if they are there, else what the library's notes say.
class FlopCounter {
 public:
  explicit FlopCounter(const Model& model) : executable_(model.machine.executable()) {
    if (!model.compiled) return;
    const ir::IRModule& module = model.compiled->legalized;
    for (size_t n = 0; n < module->functions.size(); ++n) {
      const auto func = ir::ref_as<tir::PrimFuncNode>(module->functions[n]);
      if (func) functions_[relax::kernel_symbol(module, module->global_vars[n]->name_hint)] = func;
    }
  }

  std::optional<int64_t> flops(const runtime::vm::CallRecord& record) const {
    const auto func = functions_.find(record.callee);
    if (func != functions_.end()) return count(func->second, record.args);
    return count(std::string(executable_.note(fmt::format("flops.{}", record.callee))), record.args);
  }

 private:
  // Symbolic sizes are those of the call's tensors, or integers that it was given.
  static std::optional<int64_t> count(const tir::PrimFunc& func, std::span<const TilewrightAny> args) {
    std::map<const tir::VarNode*, int64_t> sizes;
    for (size_t n = 0; n < std::min(args.size(), func->params.size()); ++n) {
      const tir::Buffer& buffer = func->buffers[n];
      if (!buffer) {
        if (args[n].type_index == kTilewrightInt) sizes[func->params[n].get()] = args[n].v_int64;
        continue;
      }
      if (args[n].type_index != kTilewrightDLTensor) continue;
      const auto* tensor = static_cast<const DLTensor*>(args[n].v_ptr);
      for (size_t axis = 0; axis < buffer->shape.size() && axis < static_cast<size_t>(tensor->ndim); ++axis) {
        if (const auto* var = buffer->shape[axis].as<tir::VarNode>()) sizes[var] = tensor->shape[axis];
      }
    }
    return analysis::count_flops(func, [&](const tir::VarNode* var) -> std::optional<int64_t> {
      const auto found = sizes.find(var);
      return found == sizes.end() ? std::nullopt : std::optional(found->second);
    });
  }

  // A note of driver/build_graph.cc: "1024", or "1024 * 0.1 + 5", where 0.1 is dimension 1 of argument 0.
  static std::optional<int64_t> count(const std::string& note, std::span<const TilewrightAny> args) {
    int64_t number = 0, rest = 0;
    size_t param = 0, axis = 0;
    const int num_read = std::sscanf(note.c_str(), "%ld * %zu.%zu + %ld", &number, &param, &axis, &rest);
    if (num_read == 1) return number;
    if (num_read != 4 || param >= args.size() || args[param].type_index != kTilewrightDLTensor) return {};
    const auto* tensor = static_cast<const DLTensor*>(args[param].v_ptr);
    int64_t result = 0;
    if (axis >= static_cast<size_t>(tensor->ndim) ||
        __builtin_mul_overflow(number, tensor->shape[axis], &result) ||
        __builtin_add_overflow(result, rest, &result))
      return {};
    return result;
  }

  const runtime::vm::Executable& executable_;
  std::map<std::string, tir::PrimFunc, std::less<>> functions_;
};

/// The kernels of one call of main, the most expensive first; times are medians of `rounds` calls.
std::vector<KernelTime> profile(const Model& model, const std::vector<Value>& inputs, size_t rounds) {
  const FlopCounter counter(model);
  std::map<std::string, KernelTime, std::less<>> kernels;
  size_t round = 0;
  model.machine.set_profiler([&](const runtime::vm::CallRecord& record) {
    KernelTime& kernel = kernels[std::string(record.callee)];
    kernel.seconds_of_round.resize(rounds);
    kernel.seconds_of_round[round] += static_cast<double>(record.duration_ns) * 1e-9;
    if (round > 0) return;
    ++kernel.num_calls;
    const std::optional<int64_t> flops = counter.flops(record);
    kernel.flops =
        flops && kernel.flops ? std::optional(*kernel.flops + static_cast<double>(*flops)) : std::nullopt;
  });
  for (; round < rounds; ++round) (void)model.machine.invoke("main", inputs);
  model.machine.set_profiler(nullptr);
  std::vector<KernelTime> sorted;
  for (auto& [name, kernel] : kernels) {
    kernel.name = name;
    auto middle = kernel.seconds_of_round.begin() + static_cast<std::ptrdiff_t>(rounds / 2);
    std::nth_element(kernel.seconds_of_round.begin(), middle, kernel.seconds_of_round.end());
    kernel.seconds = *middle;
    sorted.push_back(std::move(kernel));
  }
  std::sort(sorted.begin(), sorted.end(), [](const KernelTime& a, const KernelTime& b) {
    return std::tie(b.seconds, a.name) < std::tie(a.seconds, b.name);
  });
  return sorted;
}

struct Memory {
  int64_t arena = 0;  // tensors of known size between kernels; -1: its size depends on the inputs
  int64_t constants = 0;
  int64_t process_peak = 0;
};

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
  Latency latency;
  std::vector<KernelTime> kernels;
  Memory memory;
};

std::string gflops_text(const KernelTime& kernel) {
  if (!kernel.flops || kernel.seconds <= 0) return "-";
  return *kernel.flops == 0 ? "" : fmt::format("{:.2f}", *kernel.flops / kernel.seconds * 1e-9);
}

std::string table(const Result& result, const std::vector<Value>& inputs, const Model& model) {
  std::string text;
  for (size_t n = 0; n < inputs.size(); ++n)
    text += fmt::format("input     {}  {}\n", model.main().parameters[n].name, inputs[n].type_str());
  const Latency& latency = result.latency;
  text += fmt::format("latency   p50 {}  p90 {}  p99 {}  min {}  mean {}  ({} calls, {} threads)\n",
                      seconds_text(latency.percentile(0.5)), seconds_text(latency.percentile(0.9)),
                      seconds_text(latency.percentile(0.99)), seconds_text(latency.seconds.front()),
                      seconds_text(latency.mean()), latency.seconds.size(), runtime::num_threads());
  const Memory& memory = result.memory;
  text += fmt::format("memory    {} constants, {} arena, {} peak of the process\n\n",
                      bytes_text(static_cast<double>(memory.constants)),
                      memory.arena < 0 ? "?" : bytes_text(static_cast<double>(memory.arena)),
                      bytes_text(static_cast<double>(memory.process_peak)));
  double total = 0;
  for (const KernelTime& kernel : result.kernels) total += kernel.seconds;
  std::vector<std::vector<std::string>> rows = {{"kernel", "calls", "time", "share", "GFLOP/s"}};
  for (const KernelTime& kernel : result.kernels) {
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
  for (const KernelTime& kernel : result.kernels) {
    Json row = {{"name", kernel.name}, {"calls", kernel.num_calls}, {"seconds", kernel.seconds}};
    row["flops"] = kernel.flops ? Json(*kernel.flops) : Json();
    kernels.push_back(std::move(row));
  }
  const Latency& latency = result.latency;
  const Memory& memory = result.memory;
  const Json all = {{"model", options.model.path},
                    {"target", std::string(model.machine.executable().note("target"))},
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
                      {"process_peak", memory.process_peak}}},
                    {"kernels", kernels}};
  return json_text(all);
}

void run(const Options& options) {
  require_onnx_for(options.flags, options.model);
  runtime::set_num_threads(options.model.num_threads);
  Progress progress(options.model.is_quiet);
  const Model model = load_model(options.model, progress);
  const std::vector<Value> inputs = make_inputs(options.input, model.main());
  Result result;
  result.latency = measure(model, inputs, options);
  result.kernels = profile(model, inputs, std::min<size_t>(result.latency.seconds.size(), 100));
  result.memory = memory_of(model);
  print(options.is_json ? json(options, result, inputs, model) : table(result, inputs, model));
}

std::function<void()> add(CLI::App& app) {
  auto options = std::make_shared<Options>();
  options->flags = add_model_options(app, options->model, "an ONNX file, or a library that `compile` made");
  add_input_options(app, options->input, "a .npz or .npy with the inputs; default: random from seed 0");
  app.add_option("--repeat,-n", options->repeat, "timed calls; default: for one second, at least 10")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--warmup", options->warmup, "calls before; default 3")->check(CLI::Range(0, 1'000'000));
  app.add_flag("--json", options->is_json, "print the result as JSON; times are in seconds");
  return [options] { run(*options); };
}

}  // namespace

const Command bench_command = {"bench", "measure a model: latency, kernels, memory", R"(examples:
  tilewright bench model.onnx
  tilewright bench model.so --threads 1 --repeat 100
  tilewright bench model.onnx --dim batch=16 --json
)",
                               add};

}  // namespace tilewright::cli
