#include "tilewright/driver/build_graph.h"

#include <fmt/ranges.h>

#include <chrono>
#include <sstream>

#include "tilewright/analysis/flops.h"
#include "tilewright/codegen/llvm/native.h"
#include "tilewright/driver/target.h"
#include "tilewright/relax/block_builder.h"
#include "tilewright/relax/pipeline.h"
#include "tilewright/relax/vm_codegen.h"
#include "tilewright/runtime/vm/serialize.h"

namespace tilewright::driver {
namespace {

// Programs may come from anywhere (parsed, built by hand): bring every graph function into A-normal form with
// types.
ir::IRModule normalized(const ir::IRModule& module) {
  relax::BlockBuilder builder(module);
  for (size_t n = 0; n < module->functions.size(); ++n) {
    const auto func = ir::ref_as<relax::FunctionNode>(module->functions[n]);
    if (func) builder.update_func(module->global_vars[n], builder.normalize_function(func));
  }
  return builder.get();
}

// What the file of a compiled model says about itself.
std::vector<runtime::vm::Note> notes_of(const ir::IRModule& module, const ir::Target& target) {
  std::vector<runtime::vm::Note> notes = {
      {"target", target->str()},
      {"features", fmt::format("{}", fmt::join(make_generator(target).features, ","))}};
  for (size_t n = 0; n < module->functions.size(); ++n) {
    const auto func = ir::ref_as<tir::PrimFuncNode>(module->functions[n]);
    const std::optional<int64_t> flops = func ? analysis::count_flops(func) : std::nullopt;
    if (!flops) continue;
    const std::string symbol = relax::kernel_symbol(module, module->global_vars[n]->name_hint);
    notes.push_back({"flops." + symbol, std::to_string(*flops)});
  }
  return notes;
}

}  // namespace

Executable build_graph(const ir::IRModule& module, const ir::Target& target, ir::PassContext& context,
                       const StageObserver& on_stage) {
  using Clock = std::chrono::steady_clock;
  Executable result;
  auto stage = [&, start = Clock::now()](std::string name) mutable {
    const auto now = Clock::now();
    result.times.push_back({std::move(name), "", std::chrono::duration<double>(now - start).count()});
    start = now;
    if (on_stage) on_stage(result.times.back());
  };
  result.legalized = normalized(module);
  stage("normalize");
  context.clear_records();
  result.legalized = ir::run_pipeline(relax::default_pipeline(), result.legalized, context);
  stage("graph passes");
  relax::VmProgram program = relax::vm_codegen(result.legalized);
  result.code = std::move(program.executable);
  result.plans = std::move(program.plans);
  stage("plan memory");
  result.code.notes = notes_of(result.legalized, target);
  const std::vector<std::byte> bytes = runtime::vm::save(result.code);
  BuildOptions options{.name = "model",
                       .schedules = context.opt_level > 0,
                       .blob = std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
                       .on_stage = on_stage,
                       .traces = &result.schedules};
  result.kernels = build(result.legalized, target, options);
  stage("compile kernels");
  return result;
}

runtime::vm::VirtualMachine load_model(const runtime::Module& library) {
  runtime::vm::VirtualMachine machine = runtime::vm::VirtualMachine::from_module(library);
  std::istringstream features(std::string(machine.executable().note("features")));
  std::vector<std::string> needed;
  for (std::string feature; std::getline(features, feature, ',');) needed.push_back(feature);
  const std::vector<std::string> lacking = codegen::lacking_features(needed);
  if (!lacking.empty())
    throw UserError("{} was compiled for a CPU with {}, which this one lacks", library.name(),
                    fmt::join(lacking, ", "))
        .help("compile the model on this machine, or with a -mcpu that suits both");
  return machine;
}

}  // namespace tilewright::driver
