#include "tilewright/driver/build_graph.h"

#include <chrono>

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

}  // namespace

Executable build_graph(const ir::IRModule& module, const ir::Target& target, ir::PassContext& context) {
  using Clock = std::chrono::steady_clock;
  Executable result;
  auto stage = [&, start = Clock::now()](std::string name) mutable {
    const auto now = Clock::now();
    result.times.push_back({std::move(name), "", std::chrono::duration<double>(now - start).count()});
    start = now;
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
  const std::vector<std::byte> bytes = runtime::vm::save(result.code);
  BuildOptions options{.name = "model",
                       .blob = std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())};
  result.kernels = build(result.legalized, target, options);
  stage("compile kernels");
  return result;
}

}  // namespace tilewright::driver
