// Graphs: passes, code for the virtual machine, kernels.
#include <chrono>

#include "tilewright/driver/build.h"
#include "tilewright/relax/block_builder.h"
#include "tilewright/relax/pipeline.h"
#include "tilewright/relax/vm_codegen.h"

namespace tilewright::driver {
namespace {

// Programs may come from anywhere (parsed, built by hand): bring every graph function into A-normal form with types.
IRModule normalized(const IRModule& module) {
  relax::BlockBuilder builder(module);
  IRModule result = module;
  for (size_t n = 0; n < module->functions.size(); ++n) {
    const auto func = ref_as<relax::FunctionNode>(module->functions[n]);
    if (func) builder.update_func(module->global_vars[n], builder.normalize_function(func));
  }
  return builder.get();
}

}  // namespace

Executable build_graph(const IRModule& module, const Target& target, PassContext& context) {
  using Clock = std::chrono::steady_clock;
  Executable result;
  auto stage = [&, start = Clock::now()](std::string name, std::string detail) mutable {
    const auto now = Clock::now();
    result.times.push_back({std::move(name), std::chrono::duration<double>(now - start).count(), std::move(detail)});
    start = now;
  };
  result.legalized = normalized(module);
  stage("normalize", fmt::format("{} functions", module->functions.size()));
  context.clear_records();
  result.legalized = run_pipeline(relax::default_pipeline(), result.legalized, context);
  stage("graph passes", fmt::format("{} functions after {} passes", result.legalized->functions.size(), context.records().size()));
  relax::VmProgram program = relax::vm_codegen(result.legalized);
  result.code = std::move(program.executable);
  result.plans = std::move(program.plans);
  stage("plan memory", fmt::format("{} bytes", result.plans.empty() ? 0 : result.plans[0].second.peak_bytes));
  result.library = build(result.legalized, target);
  stage("compile kernels", fmt::format("{} kernels", result.library.names.size()));
  return result;
}

runtime::vm::VirtualMachine Executable::machine() const { return runtime::vm::VirtualMachine(code, library.module); }

}  // namespace tilewright::driver
