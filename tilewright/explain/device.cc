#include "tilewright/explain/device.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "tilewright/analysis/flops.h"
#include "tilewright/driver/compiled_module.h"
#include "tilewright/ir/walk.h"
#include "tilewright/runtime/device/accelerator.h"
#include "tilewright/support/error.h"
#include "tilewright/target/architectures.h"
#include "tilewright/target/gpu_features.h"
#include "tilewright/target/target.h"

namespace tilewright::explain {
namespace {

// Open dimensions without a size are 1, as those of random inputs.
constexpr int64_t kOpenSize = 1;

Sizes with_sizes_of(const tir::PrimFunc& func, const Sizes& sizes) {
  Sizes all = sizes;
  const auto add = [&](const ir::PrimExpr& extent) {
    ir::walk(extent, [&](const tir::VarNode* var) { all.try_emplace(var->name_hint, kOpenSize); });
  };
  for (const tir::Buffer& buffer : func->buffers) {
    if (!buffer) continue;
    for (const ir::PrimExpr& extent : buffer->shape) add(extent);
  }
  for (size_t n = 0; n < func->params.size(); ++n) {
    if (!func->buffers[n]) all.try_emplace(func->params[n]->name_hint, kOpenSize);
  }
  return all;
}

double bytes_of(const tir::PrimFunc& func, const Sizes& sizes) {
  double bytes = 0;
  for (const tir::Buffer& buffer : func->buffers) {
    if (!buffer) continue;
    double count = static_cast<double>(buffer->dtype.num_bytes());
    for (const ir::PrimExpr& extent : buffer->shape)
      count *= static_cast<double>(value_of(extent, sizes).value_or(kOpenSize));
    bytes += count;
  }
  return bytes;
}

bool uses_tensor_cores(const ir::IRModule& lowered) {
  bool found = false;
  ir::walk(lowered, [&](const tir::CallNode* call) {
    const auto* op = call->op.as<tir::OpNode>();
    found |= op && (op->name.starts_with("tir.ptx_mma") || op->name.starts_with("tir.tvm_mma"));
  });
  return found;
}

// How often each kernel is called, if each function runs once.
std::map<std::string, int64_t> calls_of(const runtime::vm::Executable& code) {
  std::map<std::string, int64_t> calls;
  for (const runtime::vm::BytecodeFunction& function : code.functions) {
    for (const runtime::vm::Instruction& instruction : function.code) {
      if (instruction.opcode == runtime::vm::Opcode::kCallKernel) ++calls[code.callees[instruction.a]];
    }
  }
  return calls;
}

// The larger of two times sets the limit.
void find_limit(DeviceReport* kernel, const DevicePeaks& peaks) {
  constexpr double kFull = 0.75;  // of a cache that other kernels use, too
  const KernelTime& time = kernel->time;
  if (!time.flops || time.bytes == 0) return;
  const double each = time.bytes / static_cast<double>(std::max<int64_t>(time.num_calls, 1));
  const bool is_in_l2 = each <= kFull * static_cast<double>(peaks.l2_bytes);
  const double arithmetic = kernel->uses_tensor_cores ? 0 : *time.flops / peaks.flops_per_s,
               bytes = time.bytes / (is_in_l2 ? peaks.l2_bytes_per_s : peaks.memory_bytes_per_s);
  kernel->least_seconds = std::max(arithmetic, bytes);
  kernel->limit = arithmetic >= bytes ? "arithmetic" : is_in_l2 ? "L2 bandwidth" : "memory bandwidth";
}

void advise(DeviceReport* kernel) {
  if (kernel->is_on_host) {
    kernel->next = "it runs on the host, which its arguments and results are copied to and from";
  } else if (!kernel->findings.empty()) {
    kernel->next = kernel->findings[0].help;
  } else if (kernel->limit.empty()) {
    kernel->next = "how much it does is not known: its loops depend on values";
  } else if (kernel->limit == "arithmetic") {
    kernel->next =
        "only fewer operations, or dtypes that tensor cores multiply, make it faster than this limit";
  } else {
    kernel->next = "fuse it with what writes its inputs or reads its outputs, or use dtypes of fewer bytes";
  }
}

DeviceReport report_of(const driver::KernelSchedule& schedule, const tir::PrimFunc& plain, int64_t num_calls,
                       const ir::Target& target, const Sizes& given, const RegisterSource& registers) {
  const Sizes sizes = with_sizes_of(plain, given);
  const auto count = static_cast<double>(num_calls);
  DeviceReport kernel;
  kernel.time.name = schedule.function;
  kernel.time.num_calls = num_calls;
  kernel.time.bytes = bytes_of(plain, sizes) * count;
  const std::optional<int64_t> flops =
      analysis::count_flops(plain, [&](const tir::VarNode* var) { return value_of(tir::Var(var), sizes); });
  kernel.time.flops = flops ? std::optional(static_cast<double>(*flops) * count) : std::nullopt;
  const ir::IRModule lowered = driver::make_generator(target).lower(schedule.function, schedule.func, {});
  kernel.uses_tensor_cores = uses_tensor_cores(lowered);
  kernel.launches = launches_of(lowered, target, sizes, registers);
  kernel.findings = lint(schedule.func, schedule.function, target, registers, sizes);
  kernel.attempts = schedule.attempts;
  kernel.trace = schedule.trace.str();
  find_limit(&kernel, peaks_of_gpu(target));
  advise(&kernel);
  return kernel;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void put_in_order(DeviceExplanation* explanation) {
  std::ranges::sort(explanation->kernels, [](const DeviceReport& a, const DeviceReport& b) {
    return std::tie(b.time.seconds, b.least_seconds, a.time.name) <
           std::tie(a.time.seconds, a.least_seconds, b.time.name);
  });
}

}  // namespace

DevicePeaks peaks_of_gpu(const ir::Target& target) {
  const target::GpuFeatures gpu = target::gpu_features_of(target).features;
  const double clock = target::clock_hz(target);
  return {.flops_per_s = 2 * static_cast<double>(gpu.fma_per_cycle_per_sm * gpu.num_sms) * clock,
          .l2_bytes_per_s = static_cast<double>(gpu.l2_bytes_per_cycle) * clock,
          .memory_bytes_per_s = static_cast<double>(gpu.memory_bytes_per_cycle) * clock,
          .l2_bytes = gpu.l2_bytes,
          .num_sms = gpu.num_sms,
          .max_threads_per_sm = gpu.max_threads_per_sm};
}

DeviceExplanation explain_for_gpu(const driver::Executable& compiled, const ir::Target& target,
                                  std::string name, const Sizes& sizes, const RegisterSource& registers) {
  DeviceExplanation result;
  result.model = std::move(name);
  result.target = target->str();
  result.peaks = peaks_of_gpu(target);
  const driver::CompiledModule& module = *driver::as_compiled(compiled.kernels);
  const std::vector<driver::KernelSchedule> schedules = driver::kernel_schedules(compiled.kernels);
  const std::map<std::string, int64_t> calls = calls_of(compiled.code);
  for (const driver::Kernel& kernel : module.kernels()) {
    const auto count = calls.find(kernel.name);
    const std::span<const driver::KernelSchedule> plans = plans_of(kernel.name, schedules);
    if (count == calls.end() || plans.empty()) continue;
    DeviceReport report =
        report_of(plans[plan_for(plans, sizes)], kernel.func, count->second, target, sizes, registers);
    report.nodes = lines_of(compiled.code.note("nodes." + kernel.name));
    result.kernels.push_back(std::move(report));
  }
  put_in_order(&result);
  return result;
}

void add_times(DeviceExplanation* explanation, const driver::Executable& compiled,
               const runtime::vm::VirtualMachine& machine, const std::vector<runtime::Value>& inputs,
               double max_seconds) {
  const runtime::Device device = device_of(machine);
  explanation->device = runtime::accelerator(device, "explain").properties(device.id).name;
  explanation->seconds = median(time_calls(machine, inputs, max_seconds / 2));
  const auto rounds = static_cast<size_t>(std::clamp(max_seconds / 2 / explanation->seconds, 3.0, 100.0));
  for (const KernelTime& time : profile(machine, compiled.legalized, inputs, rounds).kernels) {
    const auto known = std::ranges::find_if(explanation->kernels,
                                            [&](const auto& each) { return each.time.name == time.name; });
    if (known == explanation->kernels.end()) {
      DeviceReport& added = explanation->kernels.emplace_back();
      added.time = time;
      added.is_on_host = true;
      advise(&added);
      continue;
    }
    known->time = time;  // with what the call did, where loops repeat it
    find_limit(&*known, explanation->peaks);
  }
  put_in_order(explanation);
}

DeviceReport explain_for_gpu(const schedule::Schedule& sch, const std::string& name, const ir::Target& target,
                             const RegisterSource& registers) {
  const auto function_in = [&](const ir::IRModule& module) {
    const tir::PrimFunc func = ir::ref_as<tir::PrimFuncNode>(module->lookup(name));
    if (!func) throw UserError("explain: {} is no loop program", name);
    return func;
  };
  const tir::PrimFunc plain = function_in(sch.original());
  driver::KernelSchedule schedule{name, function_in(sch.module()), sch.trace(), {}};
  if (sch.trace().steps.empty()) {
    schedule = driver::kernel_schedules(driver::build(schedule.func, target))[0];
    schedule.function = name;
  }
  return report_of(schedule, plain, 1, target, {}, registers);
}

}  // namespace tilewright::explain
