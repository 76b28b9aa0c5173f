// IRModule -> lowered functions -> objects -> module.
#include "tilewright/driver/build.h"

#include <fmt/ranges.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>

#include "tilewright/analysis/verify.h"
#include "tilewright/driver/compiled_module.h"
#include "tilewright/driver/device_module.h"
#include "tilewright/driver/disk_cache.h"
#include "tilewright/lower/functions/intrinsic_rules.h"
#include "tilewright/runtime/interrupt.h"
#include "tilewright/support/error.h"

namespace tilewright::driver {
namespace {

/// Reports the time of each stage to options.on_stage; stages of different functions end on different
/// threads.
class Timer {
 public:
  Timer(const BuildOptions& options, std::mutex& mutex, std::string stage, std::string function)
      : options_(options), mutex_(mutex), stage_(std::move(stage)), function_(std::move(function)) {}
  ~Timer() {
    if (!options_.on_stage || is_cancelled_) return;
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin_;
    std::lock_guard lock(mutex_);
    options_.on_stage({stage_, function_, taken.count()});
  }
  void cancel() { is_cancelled_ = true; }

 private:
  bool is_cancelled_ = false;
  const BuildOptions& options_;
  std::mutex& mutex_;
  std::string stage_, function_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// Verifies a program: parsed scripts are checked by the parser, but nodes that were put together by hand are
// not.
void require_well_formed(const Kernel& kernel) {
  try {
    analysis::verify(kernel.func, {.axes_match_loops = false,
                                   .regions_cover_accesses = false,
                                   .values_fit = false,
                                   .views_are_declared = false});
  } catch (Error& error) {
    error.add_prefix(kernel.name);
    throw;
  }
}

// The observer of lowering steps, with a lock, since steps of different functions end on different threads.
lower::StepObserver step_observer(const BuildOptions& options, std::mutex& mutex) {
  if (!options.on_step) return {};
  return [&](const lower::Step&, const tir::PrimFunc&, const ir::PassRecord& record) {
    std::lock_guard lock(mutex);
    options.on_step(record);
  };
}

// What the cache keeps of a kernel: the lengths of its plans and of its device source, both, if its record scheduled it,
// and its code.
std::string entry_of(const Kernel& kernel) {
  return fmt::format("{}:{}:{}{}{:d}{}", kernel.plans.size(), kernel.device_source.size(), kernel.plans,
                     kernel.device_source, kernel.is_by_record, kernel.object);
}

void take_entry(std::string entry, Kernel* kernel) {
  size_t begin = 0;
  const auto length = [&] {
    const size_t value = std::stoul(entry.substr(begin));
    begin = entry.find(':', begin) + 1;
    return value;
  };
  const size_t plans = length(), source = length();
  kernel->plans = entry.substr(begin, plans);
  kernel->device_source = entry.substr(begin + plans, source);
  kernel->is_by_record = entry.at(begin + plans + source) == '1';
  kernel->object = std::move(entry).substr(begin + plans + source + 1);
}

// Compiles the kernel, or takes its code from `cache` if it is there.  Returns true if the cache grew.
bool compile_kernel(Kernel& kernel, const Generator& of_module, const BuildOptions& options,
                    std::mutex& mutex, const std::optional<DiskCache>& cache) {
  runtime::check_interrupt();
  const Generator& generator = kernel.generator(of_module);
  const std::optional<Hash128> key = cache ? cache_key(kernel, generator) : std::nullopt;
  if (key) {
    Timer timer(options, mutex, "cached", kernel.name);
    if (std::optional<std::string> entry = cache->find(*key)) {
      take_entry(std::move(*entry), &kernel);
      return false;
    }
    timer.cancel();
  }
  require_well_formed(kernel);
  schedule::PlannedFunction scheduled;
  {
    Timer timer(options, mutex, "schedule", kernel.name);
    scheduled = schedule_kernel(kernel, generator);
    kernel.plans = plans_text(scheduled);
    kernel.is_by_record = kernel.record && !is_record_refused(scheduled);
  }
  {
    Timer timer(options, mutex, "lower", kernel.name);
    kernel.lowered = generator.lower(kernel.name, scheduled.func, step_observer(options, mutex));
  }
  if (generator.device_source) kernel.device_source = generator.device_source(kernel.lowered);
  if (!generator.object) return false;
  runtime::check_interrupt();
  Timer timer(options, mutex, "codegen", kernel.name);
  kernel.object = generator.object(kernel.lowered);
  if (key) cache->add(*key, entry_of(kernel));
  return key.has_value();
}

}  // namespace

std::string machine_key(const ir::Target& target, const Generator& generator) {
  return generator.gpu ? records::machine_key(target->kind_name, *generator.gpu)
                       : records::machine_key(target->kind_name, generator.features);
}

runtime::Module build(const ir::IRModule& module, const ir::Target& target, const BuildOptions& options) {
  const Generator generator = make_generator(target);
  const std::string machine = options.records ? machine_key(target, generator) : "";
  std::vector<Kernel> kernels = kernels_of(module, options.schedules, options.check_bounds, machine);
  // keys of records, made before this, are those of the program as it was tuned
  for (Kernel& kernel : kernels)
    kernel.func = lower::with_intrinsic_rules(target->kind_name, kernel.name, kernel.func);
  if (options.records) {
    for (Kernel& kernel : kernels) {
      if (kernel.is_left_to_rules) kernel.record = options.records->best(kernel.key);
    }
  }
  std::mutex mutex;
  std::atomic<bool> has_cache_grown = false;
  const std::optional<DiskCache> cache = DiskCache::of_user();
  runtime::interruptible_for(static_cast<int64_t>(kernels.size()), [&](int64_t n) {
    if (compile_kernel(kernels[static_cast<size_t>(n)], generator, options, mutex, cache))
      has_cache_grown = true;
  });
  if (has_cache_grown) cache->trim();
  const auto* compiled = new CompiledModule(options.name, generator, std::move(kernels), options.blob);
  runtime::Module result{Ref<runtime::ModuleObject>(compiled)};
  const std::vector<DeviceSources> sources = compiled->device_sources();
  for (const DeviceSources& each : sources) {
    result.import_module(runtime::Module(
        Ref<runtime::ModuleObject>(new DeviceModule(each.generator->device_kind, each.sources))));
  }
  if (!generator.object) return result;  // compiled later, when it is needed
  Timer timer(options, mutex, "link", "");
  // code of devices is compiled when it is first called: its source is of use where no compiler is
  if (generator.is_host && sources.empty()) compiled->load();
  return result;
}

runtime::Module build(const tir::PrimFunc& func, const ir::Target& target, const BuildOptions& options) {
  return build(ir::with_function(ir::IRModuleNode::make(), "main", func), target, options);
}

std::vector<schedule::Attempt> schedule_by_rules(schedule::Schedule& sch, const ir::Target& target) {
  const Generator generator = make_generator(target);
  std::vector<std::string> names;
  for (const schedule::State::Func& func : sch.state().funcs()) names.push_back(func.name->name_hint);
  std::vector<schedule::Attempt> attempts;
  for (const std::string& name : names) {
    for (schedule::Attempt& each : generator.gpu ? schedule::schedule_for_gpu(sch, name, *generator.gpu)
                                                 : schedule::schedule_by_rules(sch, name, generator.features))
      attempts.push_back(std::move(each));
  }
  return attempts;
}

std::vector<KernelSchedule> kernel_schedules(const runtime::Module& module) {
  const CompiledModule* compiled = as_compiled(module);
  if (!compiled) return {};
  std::vector<KernelSchedule> schedules;
  for (const Kernel& kernel : compiled->kernels()) {
    for (schedule::Plan& plan : schedule_kernel(kernel, compiled->generator_of(kernel)).plans)
      schedules.push_back({kernel.name, std::move(plan.schedule.func), std::move(plan.schedule.trace),
                           std::move(plan.schedule.attempts), std::move(plan.extents)});
  }
  return schedules;
}

ir::IRModule scheduled_kernels(const runtime::Module& module) {
  ir::IRModule scheduled = ir::IRModuleNode::make();
  const CompiledModule* compiled = as_compiled(module);
  if (!compiled) return scheduled;
  for (const Kernel& kernel : compiled->kernels())
    scheduled = ir::with_function(scheduled, kernel.name,
                                  schedule_kernel(kernel, compiled->generator_of(kernel)).func);
  return scheduled;
}

std::vector<std::pair<std::string, std::string>> kernel_plans(const runtime::Module& module) {
  std::vector<std::pair<std::string, std::string>> plans;
  const CompiledModule* compiled = as_compiled(module);
  if (!compiled) return plans;
  for (const Kernel& kernel : compiled->kernels()) {
    if (!kernel.plans.empty()) plans.emplace_back(kernel.name, kernel.plans);
  }
  return plans;
}

std::vector<std::pair<std::string, records::Record>> kernel_records(const runtime::Module& module) {
  std::vector<std::pair<std::string, records::Record>> found;
  const CompiledModule* compiled = as_compiled(module);
  if (!compiled) return found;
  for (const Kernel& kernel : compiled->kernels()) {
    if (kernel.is_by_record) found.emplace_back(kernel.name, *kernel.record);
  }
  return found;
}

std::string get_source(const runtime::Module& module, const std::string& format) {
  if (const DeviceModule* device = as_device(module)) return device->source();
  const CompiledModule* compiled = as_compiled(module);
  if (!compiled)
    throw UserError("module {} has no source: it was not compiled by this process",
                    module ? module.name() : "none");
  std::vector<std::string> names;
  for (const SourceFormat& source : compiled->generator().sources) {
    if (source.name == format || format.empty()) return source.emit(compiled->lowered());
    names.push_back(fmt::format("\"{}\"", source.name));
  }
  throw UserError("there is no source of format \"{}\"", format)
      .help("the formats are {}", fmt::join(names, ", "));
}

}  // namespace tilewright::driver
