#include "tilewright/explain/explain.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "tilewright/analysis/flops.h"
#include "tilewright/driver/compiled_module.h"
#include "tilewright/explain/plans.h"
#include "tilewright/ir/walk.h"
#include "tilewright/runtime/time_evaluator.h"
#include "tilewright/support/error.h"
#include "tilewright/support/units.h"
#include "tilewright/tir/loop_hints.h"

namespace tilewright::explain {
namespace {

// True if a rule gave the block its schedule.
bool is_taken(const std::string& block, const std::vector<schedule::Attempt>& attempts) {
  return std::any_of(attempts.begin(), attempts.end(), [&](const schedule::Attempt& attempt) {
    return attempt.block == block && attempt.rule != "inline" && attempt.rule != "parallel" &&
           attempt.is_applied();
  });
}

/// Something to try, and the time that it leaves, if that can be said.
struct Advice {
  std::string text;
  std::optional<double> seconds;
};

// Calls shorter than this are as much entering and leaving as work.
constexpr double kShortCall = 2e-6;
// The share of what the machine can do from which on a kernel is as good as it gets.
constexpr double kGood = 0.8;
// More than so many times the peak is no machine that was slower when it was measured, but a wrong count.
constexpr double kMostRaise = 2, kMostRaiseOfBusy = 4;

// A way to make a rule apply, or to do without it.
std::string remedy_for(const schedule::Attempt& attempt) {
  return attempt.reason->kind == schedule::Reason::kOpenExtent ? "fix the size when it is compiled"
                                                               : "schedule it by hand";
}

std::vector<Advice> all_advice(const KernelReport& kernel, const Peaks& peaks, int vector_lanes) {
  std::vector<Advice> list;
  if (kernel.is_packed) return list;
  const double seconds = kernel.time.seconds, each = seconds / static_cast<double>(kernel.time.num_calls);
  const bool is_limit_known = !kernel.limit.empty();
  const auto at_best = [&](double expected) {
    return is_limit_known ? std::optional(std::max(kernel.least_seconds / kGood, expected)) : std::nullopt;
  };
  for (const schedule::Attempt& attempt : kernel.attempts) {
    if (attempt.is_applied() || !attempt.concerns_block() || attempt.rule == "inline" ||
        attempt.rule == "parallel" || attempt.rule == schedule::kAnyRule ||
        is_taken(attempt.block, kernel.attempts))
      continue;
    list.push_back({fmt::format("no rule took block {} ({}: {}): {}", attempt.block, attempt.rule,
                                attempt.reason->text, remedy_for(attempt)),
                    at_best(0)});
  }
  if (peaks.num_threads > 1 && each > 10 * kShortCall && !kernel.is_parallel)
    list.push_back(
        {fmt::format("it runs on one thread of {}: make an outer loop parallel", peaks.num_threads),
         at_best(seconds / peaks.num_threads)});
  if (kernel.vector_use && *kernel.vector_use < kGood && kernel.limit == "arithmetic")
    list.push_back(
        {fmt::format("{} of the lanes of its vectors do work: make the extent of the vectorized axis a "
                     "multiple of {}, or vectorize another axis",
                     percent_text(*kernel.vector_use), vector_lanes),
         at_best(seconds * *kernel.vector_use)});
  if (each < kShortCall)
    list.push_back({"its calls are short: fuse it with its neighbours",
                    is_limit_known ? std::optional(std::min(kernel.least_seconds, seconds)) : std::nullopt});
  return list;
}

// Why there is nothing to compare a kernel with.
std::string why_no_limit(const KernelReport& kernel) {
  if (kernel.is_packed) return "it is a packed function: what it does is not known";
  if (!kernel.time.flops) return "how much it does is not known: its loops depend on values";
  if (kernel.time.bytes == 0) return "it reads and writes nothing";
  return "its tensors have more than it can have read and written in this time: it uses parts of them, and "
         "how "
         "much is not known";
}

// Sets the advice that leaves the least time, or a general one.
void advise(KernelReport& kernel, const Peaks& peaks, int vector_lanes) {
  const double seconds = kernel.time.seconds;
  const std::vector<Advice> list = all_advice(kernel, peaks, vector_lanes);
  if (kernel.limit.empty()) {
    kernel.next = why_no_limit(kernel);
    if (!list.empty()) kernel.next += "; " + list[0].text;
    return;
  }
  const auto best = std::min_element(list.begin(), list.end(),
                                     [](const Advice& a, const Advice& b) { return a.seconds < b.seconds; });
  if (best != list.end() && best->seconds < seconds) {
    kernel.next = best->text;
    kernel.gain_seconds = seconds - *best->seconds;
    return;
  }
  if (kernel.efficiency() < kGood) {
    kernel.next = kernel.limit == "arithmetic"
                      ? "try other tiles: sizes, order of loops, unrolling"
                      : "try tiles that read less at a time, or other orders of loops";
    kernel.gain_seconds = seconds - kernel.least_seconds / kGood;
  } else if (kernel.limit == "arithmetic") {
    kernel.next = "it is at the machine's limit: only fewer operations or less precision make it faster";
  } else if (kernel.time.weight_bytes > kernel.time.bytes / 2) {
    kernel.next = "it reads weights as fast as its memory allows: larger batches or weights of fewer bits";
  } else {
    kernel.next =
        "it is at the limit of its memory: fuse it with what writes its inputs or reads its outputs";
    kernel.gain_seconds = seconds * (1 - kernel.time.weight_bytes / kernel.time.bytes) / 2;
  }
}

// The least times that arithmetic and memory allow.
struct LeastTimes {
  const MemoryLevel& level;
  double arithmetic, bytes;
};
std::optional<LeastTimes> least_times(const KernelReport& kernel, const Peaks& peaks) {
  const KernelTime& time = kernel.time;
  if (kernel.is_packed || !time.flops || time.bytes == 0) return std::nullopt;
  const MemoryLevel& level =
      peaks.level_for(static_cast<int64_t>(time.bytes / static_cast<double>(time.num_calls)));
  return LeastTimes{level, *time.flops / peaks.of(kernel.arithmetic), time.bytes / level.bytes_per_s};
}

// Sets the limit of the kernel, and the least time that it allows.
void find_limit(KernelReport& kernel, const Peaks& peaks) {
  const std::optional<LeastTimes> least = least_times(kernel, peaks);
  if (!least) return;
  // kernels raise peaks: a kernel beyond its peak does less than what was counted
  constexpr double kRounding = 1.001;
  if (std::max(least->arithmetic, least->bytes) > kRounding * kernel.time.seconds) return;
  kernel.level = least->level.name;
  kernel.least_seconds = std::max(least->arithmetic, least->bytes);
  kernel.limit = least->arithmetic >= least->bytes ? "arithmetic" : kernel.level + " bandwidth";
}

// The instructions that a scheduled kernel multiplies with: dot products or matrix tiles if it has any.
Arithmetic arithmetic_of(const tir::PrimFunc& scheduled) {
  Arithmetic found = Arithmetic::kVectors;
  const auto take = [&](DataType sum) { found = sum.is_float() ? Arithmetic::kBfloat16 : Arithmetic::kInt8; };
  ir::walk(
      scheduled,
      [&](const tir::CallNode* call) {
        const auto* op = call->op.as<tir::OpNode>();
        if (op && op->name == "tir.dot_add") take(call->dtype);
      },
      [&](const tir::ForNode* loop) {
        if (loop->annotations.get_bool(tir::kMatrixTiles, false))
          ir::walk(loop, [&](const tir::BufferStoreNode* store) { take(store->buffer->dtype); });
      });
  return found;
}

// The part of the lanes that does the arithmetic of `plain`, which was scheduled to `scheduled`.
std::optional<double> vector_use(const tir::PrimFunc& plain, const tir::PrimFunc& scheduled,
                                 int64_t vector_bytes) {
  // of symbolic sizes a typical one: both counts grow with it
  const analysis::SizeOf typical = [](const tir::VarNode*) { return std::optional<int64_t>(64); };
  const std::optional<int64_t> flops = analysis::count_flops(plain, typical),
                               lanes = analysis::count_lanes(scheduled, vector_bytes, typical);
  if (!flops || !lanes || *lanes == 0) return std::nullopt;
  return std::min(1.0, static_cast<double>(*flops) / static_cast<double>(*lanes));
}

// Sets what follows from the schedule: its rules, steps, threads and lanes.  `plain` is the program before it.
void take_schedule(KernelReport& kernel, int64_t vector_bytes, const driver::KernelSchedule& schedule,
                   const tir::PrimFunc& plain) {
  kernel.is_packed = false;
  kernel.arithmetic = arithmetic_of(schedule.func);
  ir::walk(schedule.func, [&](const tir::ForNode* loop) {
    kernel.is_parallel |= loop->for_kind == tir::ForKind::kParallel;
  });
  kernel.attempts = schedule.attempts;
  kernel.trace = schedule.trace.str();
  if (kernel.time.flops.value_or(0) > 0) kernel.vector_use = vector_use(plain, schedule.func, vector_bytes);
}

int64_t vector_bytes_of(const driver::CompiledModule& module) {
  return module.generator().features.vector_bytes;
}

tir::PrimFunc function_of(const ir::IRModule& module, const std::string& name) {
  const tir::PrimFunc func = ir::ref_as<tir::PrimFuncNode>(module->lookup(name));
  if (!func) throw UserError("explain: {} is no loop program", name);
  return func;
}

// A tensor for the parameter, with numbers that no arithmetic makes infinite or NaN.
runtime::Value argument_for(const tir::PrimFunc& func, size_t place) {
  const tir::Buffer& buffer = func->buffers[place];
  if (!buffer)
    throw Unsupported(func->params[place], "explain: parameter {} is no buffer",
                      func->params[place]->name_hint);
  runtime::Shape shape;
  for (const ir::PrimExpr& extent : buffer->shape) {
    const auto* number = extent.as<ir::IntImmNode>();
    if (!number)
      throw UserError(func->params[place], "explain: buffer {} has a size that is not known", buffer->name)
          .help("bind it first: PrimFunc.specialize");
    shape.push_back(number->value);
  }
  const runtime::Tensor tensor = runtime::Tensor::zeros(shape, buffer->dtype);
  if (buffer->dtype == DataType::float_(32))
    std::fill_n(tensor.data_as<float>(), tensor.num_elements(), 0.5f);
  return runtime::Value(tensor);
}

}  // namespace

Peaks raised(Peaks peaks, const std::vector<KernelReport>& kernels) {
  const double most = peaks.is_steady ? kMostRaise : kMostRaiseOfBusy;
  const Peaks measured = peaks;
  const auto raise = [&](double least, double seconds, double known, double* peak) {
    if (least > seconds && least <= most * seconds) *peak = std::max(*peak, known * least / seconds);
  };
  for (const KernelReport& kernel : kernels) {
    const std::optional<LeastTimes> least = least_times(kernel, measured);
    const double seconds = kernel.time.seconds;
    if (!least || std::max(least->arithmetic, least->bytes) > most * seconds) continue;
    double* arithmetic =
        kernel.arithmetic == Arithmetic::kBfloat16 && peaks.bfloat16_per_s > 0 ? &peaks.bfloat16_per_s
        : kernel.arithmetic == Arithmetic::kInt8 && peaks.int8_per_s > 0       ? &peaks.int8_per_s
                                                                               : &peaks.flops_per_s;
    raise(least->arithmetic, seconds, measured.of(kernel.arithmetic), arithmetic);
    const size_t level = static_cast<size_t>(&least->level - measured.levels.data());
    raise(least->bytes, seconds, least->level.bytes_per_s, &peaks.levels[level].bytes_per_s);
  }
  put_levels_in_order(&peaks);
  return peaks;
}

void judge(KernelReport& kernel, const Peaks& peaks, int64_t vector_bytes) {
  find_limit(kernel, peaks);
  advise(kernel, peaks, static_cast<int>(vector_bytes / 4));
}

Explanation explain(const driver::Executable& compiled, const std::vector<runtime::Value>& inputs,
                    const Peaks& peaks, std::string name, double max_seconds) {
  const runtime::vm::VirtualMachine machine = compiled.machine();
  const double seconds = median(time_calls(machine, inputs, max_seconds / 2));
  const size_t rounds = std::clamp<size_t>(static_cast<size_t>(max_seconds / 2 / seconds), 3, 100);
  Profile profile = explain::profile(machine, compiled.legalized, inputs, rounds);
  Explanation result{std::move(name), seconds, peaks, {}, std::move(profile.steps)};
  const driver::CompiledModule& module = *driver::as_compiled(compiled.kernels);
  const int64_t vector_bytes = vector_bytes_of(module);
  const std::vector<driver::KernelSchedule> schedules = driver::kernel_schedules(compiled.kernels);
  const Sizes sizes = sizes_of_call(compiled.legalized, inputs);
  double total = 0;
  for (const KernelTime& time : profile.kernels) total += time.seconds;
  for (KernelTime& time : profile.kernels) {
    KernelReport& kernel = result.kernels.emplace_back();
    kernel.time = std::move(time);
    kernel.share = kernel.time.seconds / total;
    std::istringstream nodes(std::string(compiled.code.note("nodes." + kernel.time.name)));
    for (std::string node; std::getline(nodes, node);) kernel.nodes.push_back(node);
    const std::span<const driver::KernelSchedule> plans = plans_of(kernel.time.name, schedules);
    kernel.is_packed = plans.empty();
    if (kernel.is_packed) continue;
    kernel.plan = plan_for(plans, sizes);
    for (const driver::KernelSchedule& plan : plans) {
      if (plans.size() > 1) kernel.plans.push_back(schedule::plan_text(plan.extents));
    }
    const auto plain = std::ranges::find(module.kernels(), kernel.time.name, &driver::Kernel::name);
    take_schedule(kernel, vector_bytes, plans[kernel.plan], plain->func);
  }
  result.peaks = raised(peaks, result.kernels);
  for (KernelReport& kernel : result.kernels) judge(kernel, result.peaks, vector_bytes);
  return result;
}

KernelReport explain(const schedule::Schedule& sch, const std::string& name, const ir::Target& target,
                     const Peaks& peaks) {
  const tir::PrimFunc func = function_of(sch.module(), name), plain = function_of(sch.original(), name);
  std::vector<runtime::Value> args;
  KernelReport kernel;
  kernel.time.name = name;
  kernel.time.num_calls = 1;
  for (size_t n = 0; n < func->params.size(); ++n) {
    args.push_back(argument_for(func, n));
    kernel.time.bytes += static_cast<double>(args.back().as_tensor().num_bytes());
  }
  const runtime::Module module = driver::build(func, target);
  const driver::CompiledModule& compiled = *driver::as_compiled(module);
  kernel.time.seconds = runtime::time_evaluator(module.find_function(compiled.names()[0]), args,
                                                {.number = 1, .repeat = 7, .min_repeat_ms = 20})
                            .median_s;
  kernel.share = 1;
  const std::optional<int64_t> flops = analysis::count_flops(plain);
  kernel.time.flops = flops ? std::optional(static_cast<double>(*flops)) : std::nullopt;
  driver::KernelSchedule schedule = driver::kernel_schedules(module)[0];
  if (!sch.trace().steps.empty()) {
    schedule.trace = sch.trace();
    schedule.attempts.clear();  // somebody has scheduled it, which is why rules did not
  }
  take_schedule(kernel, vector_bytes_of(compiled), schedule, plain);
  judge(kernel, raised(peaks, {kernel}), vector_bytes_of(compiled));
  return kernel;
}

}  // namespace tilewright::explain
