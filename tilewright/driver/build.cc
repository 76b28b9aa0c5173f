// IRModule -> lowered functions -> objects -> module.
#include "tilewright/driver/build.h"

#include <chrono>
#include <mutex>

#include "tilewright/driver/compiled_module.h"
#include "tilewright/driver/machine.h"
#include "tilewright/lower/pipeline.h"
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

/// Adds what a stage took to options.times; stages of different functions end on different threads.
class Timer {
 public:
  Timer(const BuildOptions& options, std::mutex& mutex, std::string stage, std::string function)
      : times_(options.times), mutex_(mutex), stage_(std::move(stage)), function_(std::move(function)) {}
  ~Timer() {
    if (!times_) return;
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin_;
    std::lock_guard lock(mutex_);
    times_->push_back({stage_, function_, taken.count()});
  }

 private:
  std::vector<StageTime>* times_;
  std::mutex& mutex_;
  std::string stage_, function_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

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
    kernels.push_back({std::move(name), func, {}, {}, {}});
  }
  return kernels;
}

}  // namespace

runtime::Module build(const ir::IRModule& module, const ir::Target& target, const BuildOptions& options) {
  if (target->kind_name != "llvm")
    throw Unsupported("there is no code generator for target {} yet", target->kind_name).help("use \"llvm\"");
  const codegen::NativeTarget native = codegen::native_target(target);
  const schedule::Machine machine = machine_of(native, target);
  std::vector<Kernel> kernels = kernels_of(module);
  std::mutex mutex;
  runtime::parallel_for(static_cast<int64_t>(kernels.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      Kernel& kernel = kernels[static_cast<size_t>(n)];
      if (options.schedules) {
        Timer timer(options, mutex, "schedule", kernel.name);
        kernel.scheduled = schedule::schedule_by_rules(kernel.name, kernel.func, machine);
        kernel.func = kernel.scheduled.func;
      }
      {
        Timer timer(options, mutex, "lower", kernel.name);
        kernel.lowered = lower::lower_for_cpu(kernel.name, kernel.func);
      }
      Timer timer(options, mutex, "codegen", kernel.name);
      kernel.object = codegen::emit_object(kernel.lowered, native);
    }
  });
  std::vector<std::string> names, objects;
  std::vector<ir::IRModule> lowered;
  for (Kernel& kernel : kernels) {
    if (options.traces)
      options.traces->push_back(
          {kernel.name, std::move(kernel.scheduled.trace), std::move(kernel.scheduled.rejections)});
    names.push_back(std::move(kernel.name));
    lowered.push_back(std::move(kernel.lowered));
    objects.push_back(std::move(kernel.object));
  }
  auto* compiled = new CompiledModule(options.name, native, std::move(names), std::move(lowered),
                                      std::move(objects), options.blob);
  runtime::Module result{Ref<runtime::ModuleObject>(compiled)};
  Timer timer(options, mutex, "link", "");
  if (native.is_host) compiled->load();
  return result;
}

runtime::Module build(const tir::PrimFunc& func, const ir::Target& target, const BuildOptions& options) {
  return build(ir::with_function(ir::IRModuleNode::make(), "main", func), target, options);
}

std::vector<schedule::Rejection> schedule_by_rules(schedule::Schedule& sch, const ir::Target& target) {
  const schedule::Machine machine = machine_of(codegen::native_target(target), target);
  std::vector<std::string> names;
  for (const schedule::State::Func& func : sch.state().funcs()) names.push_back(func.name->name_hint);
  std::vector<schedule::Rejection> rejections;
  for (const std::string& name : names) {
    for (schedule::Rejection& each : schedule::schedule_by_rules(sch, name, machine))
      rejections.push_back(std::move(each));
  }
  return rejections;
}

std::string get_source(const runtime::Module& module, const std::string& format) {
  const CompiledModule* compiled = as_compiled(module);
  if (!compiled)
    throw UserError("module {} has no source: it was not compiled by this process",
                    module ? module.name() : "none");
  std::string text;
  for (const ir::IRModule& lowered : compiled->lowered()) {
    if (format == "ll")
      text += codegen::emit_llvm_ir(lowered, compiled->target());
    else if (format == "asm")
      text += codegen::emit_assembly(lowered, compiled->target());
    else
      throw UserError("there is no source of format \"{}\"", format)
          .help("the formats are \"ll\" and \"asm\"");
  }
  return text;
}

}  // namespace tilewright::driver
