// IRModule -> lowered functions -> objects -> module.
#include "tilewright/driver/build.h"

#include <fmt/ranges.h>

#include <atomic>
#include <chrono>
#include <mutex>

#include "tilewright/driver/compiled_module.h"
#include "tilewright/lower/passes/inline_calls.h"
#include "tilewright/runtime/interrupt.h"
#include "tilewright/runtime/thread_pool.h"
#include "tilewright/support/error.h"

namespace tilewright::driver {
namespace {

struct Kernel {
  std::string name;
  tir::PrimFunc func;
  schedule::DefaultSchedule scheduled;
  ir::IRModule lowered;
  std::string object;
};

/// Tells options.on_stage what a stage took; stages of different functions end on different threads.
class Timer {
 public:
  Timer(const BuildOptions& options, std::mutex& mutex, std::string stage, std::string function)
      : options_(options), mutex_(mutex), stage_(std::move(stage)), function_(std::move(function)) {}
  ~Timer() {
    if (!options_.on_stage) return;
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin_;
    std::lock_guard lock(mutex_);
    options_.on_stage({stage_, function_, taken.count()});
  }

 private:
  const BuildOptions& options_;
  std::mutex& mutex_;
  std::string stage_, function_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// Between kernels; the other threads see the flag.
void stop_if_asked(std::atomic<bool>* is_interrupted) {
  try {
    runtime::check_interrupt();
  } catch (...) {
    *is_interrupted = true;
    throw;
  }
}

std::vector<Kernel> kernels_of(const ir::IRModule& module) {
  std::vector<Kernel> kernels;
  for (size_t n = 0; n < module->functions.size(); ++n) {
    const tir::PrimFunc func = ir::ref_as<tir::PrimFuncNode>(module->functions[n]);
    if (!func) continue;
    std::string name = func->attrs.get_string("global_symbol", module->global_vars[n]->name_hint);
    for (const Kernel& other : kernels) {
      if (other.name == name)
        throw UserError(func, "two functions of the module have the global_symbol \"{}\"", name);
    }
    kernels.push_back({std::move(name), lower::inline_calls(module, func), {}, {}, {}});
  }
  return kernels;
}

}  // namespace

runtime::Module build(const ir::IRModule& module, const ir::Target& target, const BuildOptions& options) {
  const Generator generator = make_generator(target);
  std::vector<Kernel> kernels = kernels_of(module);
  std::mutex mutex;
  std::atomic<bool> is_interrupted = false;
  runtime::parallel_for(static_cast<int64_t>(kernels.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end && !is_interrupted; ++n) {
      stop_if_asked(&is_interrupted);
      Kernel& kernel = kernels[static_cast<size_t>(n)];
      if (options.schedules && generator.rules_for) {
        Timer timer(options, mutex, "schedule", kernel.name);
        kernel.scheduled = schedule::schedule_by_rules(kernel.name, kernel.func, *generator.rules_for);
        kernel.func = kernel.scheduled.func;
      }
      {
        Timer timer(options, mutex, "lower", kernel.name);
        kernel.lowered = generator.lower(kernel.name, kernel.func);
      }
      if (!generator.object) continue;
      Timer timer(options, mutex, "codegen", kernel.name);
      kernel.object = generator.object(kernel.lowered);
    }
  });
  std::vector<std::string> names, objects;
  std::vector<ir::IRModule> lowered;
  for (Kernel& kernel : kernels) {
    if (options.traces)
      options.traces->push_back({kernel.name, kernel.func, std::move(kernel.scheduled.trace),
                                 std::move(kernel.scheduled.rejections)});
    names.push_back(std::move(kernel.name));
    lowered.push_back(std::move(kernel.lowered));
    if (generator.object) objects.push_back(std::move(kernel.object));
  }
  auto* compiled = new CompiledModule(options.name, generator, std::move(names), std::move(lowered),
                                      std::move(objects), options.blob);
  runtime::Module result{Ref<runtime::ModuleObject>(compiled)};
  if (!generator.object) return result;  // compiled when it is needed
  Timer timer(options, mutex, "link", "");
  if (generator.is_host) compiled->load();
  return result;
}

runtime::Module build(const tir::PrimFunc& func, const ir::Target& target, const BuildOptions& options) {
  return build(ir::with_function(ir::IRModuleNode::make(), "main", func), target, options);
}

std::vector<schedule::Rejection> schedule_by_rules(schedule::Schedule& sch, const ir::Target& target) {
  const Generator generator = make_generator(target);
  TILEWRIGHT_CHECK(generator.rules_for, "target {} has no rules for schedules", target->kind_name);
  std::vector<std::string> names;
  for (const schedule::State::Func& func : sch.state().funcs()) names.push_back(func.name->name_hint);
  std::vector<schedule::Rejection> rejections;
  for (const std::string& name : names) {
    for (schedule::Rejection& each : schedule::schedule_by_rules(sch, name, *generator.rules_for))
      rejections.push_back(std::move(each));
  }
  return rejections;
}

std::string get_source(const runtime::Module& module, const std::string& format) {
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
      .help("the formats are {}", fmt::join(names, " and "));
}

}  // namespace tilewright::driver
