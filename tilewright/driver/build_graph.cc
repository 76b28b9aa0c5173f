#include "tilewright/driver/build_graph.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <sstream>

#include "tilewright/analysis/flops.h"
#include "tilewright/driver/objects.h"
#include "tilewright/driver/pack_weights.h"
#include "tilewright/driver/place_graph.h"
#include "tilewright/driver/target.h"
#include "tilewright/driver/verify_passes.h"
#include "tilewright/ir/walk.h"
#include "tilewright/records/json.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/graph/function_names.h"
#include "tilewright/relax/graph/origin.h"
#include "tilewright/relax/index_inputs.h"
#include "tilewright/relax/infer/definitions.h"
#include "tilewright/relax/infer/infer.h"
#include "tilewright/relax/infer/likely_sizes.h"
#include "tilewright/relax/pipeline.h"
#include "tilewright/relax/vm/vm_codegen.h"
#include "tilewright/runtime/device/large_blocks.h"
#include "tilewright/runtime/vm/serialize.h"
#include "tilewright/support/finally.h"
#include "tilewright/target/gpu_features.h"

namespace tilewright::driver {
namespace {

// Brings every graph function into A-normal form with types, since programs may be parsed or built by hand.
ir::IRModule normalized(ir::IRModule module) {
  relax::require_definitions(module);
  relax::BlockBuilder builder(module);
  for (size_t n = 0; n < module->functions.size(); ++n) {
    const auto func = ir::ref_as<relax::FunctionNode>(module->functions[n]);
    if (!func) continue;
    const std::string& name = module->global_vars[n]->name_hint;
    const relax::Function normal = builder.normalize_function(func);
    relax::require_declared_result(func, name, relax::type_of(normal->body));
    builder.update_func(module->global_vars[n], normal);
  }
  return builder.get();
}

/// The place where a called kernel finds the value of a symbolic size: dimension `axis` of argument `param`.
struct SizePlace {
  const tir::VarNode* var = nullptr;
  size_t param = 0, axis = 0;
};

std::vector<SizePlace> symbolic_sizes(const tir::PrimFunc& func) {
  std::vector<SizePlace> places;
  for (size_t param = 0; param < func->params.size(); ++param) {
    if (!func->buffers[param]) continue;
    const std::vector<ir::PrimExpr>& shape = func->buffers[param]->shape;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      const auto* var = shape[axis].as<tir::VarNode>();
      const bool is_new = std::none_of(places.begin(), places.end(),
                                       [&](const SizePlace& place) { return place.var == var; });
      if (var && is_new) places.push_back({var, param, axis});
    }
  }
  return places;
}

// "1024", or "1024 * 0.1 + 5" for 1024 times dimension 1 of argument 0, plus 5; "" if the count is neither
// constant nor linear in a single size.
std::string flops_text(const tir::PrimFunc& func) {
  if (const std::optional<int64_t> flops = analysis::count_flops(func)) return std::to_string(*flops);
  const std::vector<SizePlace> places = symbolic_sizes(func);
  if (places.size() != 1) return "";
  int64_t flops[3];
  for (int64_t size = 1; size <= 3; ++size) {
    const auto size_of = [&](const tir::VarNode* var) -> std::optional<int64_t> {
      return var == places[0].var ? std::optional(size) : std::nullopt;
    };
    const std::optional<int64_t> count = analysis::count_flops(func, size_of);
    if (!count) return "";
    flops[size - 1] = *count;
  }
  const int64_t slope = flops[1] - flops[0];
  if (flops[2] - flops[1] != slope) return "";
  return fmt::format("{} * {}.{} + {}", slope, places[0].param, places[0].axis, flops[0] - slope);
}

// Notes that hold the records of tuning, before the names of their kernels.
constexpr std::string_view kRecordNote = "tuning.";

// "0:10 3:1": parameters 0 and 3 of main contain indices below 10 and 1.
std::string indices_text(const ir::IRModule& module) {
  const auto main = ir::ref_as<relax::FunctionNode>(module->find("main"));
  std::vector<std::string> texts;
  if (main) {
    for (const auto& [param, bound] : relax::index_inputs(main))
      texts.push_back(fmt::format("{}:{}", param, bound));
  }
  return fmt::format("{}", fmt::join(texts, " "));
}

// The notes in the file of a compiled model.
std::vector<runtime::vm::Note> notes_of(const ir::IRModule& module, const ir::Target& target,
                                        const std::vector<std::string>& features) {
  std::vector<runtime::vm::Note> notes = {{"target", target->str()},
                                          {"features", fmt::format("{}", fmt::join(features, ","))}};
  for (size_t n = 0; n < module->functions.size(); ++n) {
    const auto func = ir::ref_as<tir::PrimFuncNode>(module->functions[n]);
    const std::string flops = func ? flops_text(func) : "";
    if (flops.empty()) continue;
    const std::string symbol = relax::kernel_symbol(module, module->global_vars[n]->name_hint);
    notes.push_back({"flops." + symbol, flops});
  }
  return notes;
}

// The nodes of the model that each kernel computes, one a line, in the order of the graph.
std::vector<runtime::vm::Note> node_notes(const ir::IRModule& module) {
  std::map<std::string, Span> origins;
  for (const ir::BaseFunc& func : module->functions) {
    if (!ir::is<relax::FunctionNode>(func)) continue;
    ir::walk(func, [&](const relax::CallNode* call) {
      const auto* callee = call->args.empty() ? nullptr : call->args[0].as<ir::GlobalVarNode>();
      if (!callee || !call->span.source) return;
      Span& origin = origins[relax::kernel_symbol(module, callee->name_hint)];
      origin = relax::joined_origins(origin, call->span);
    });
  }
  std::vector<runtime::vm::Note> notes;
  for (const auto& [kernel, origin] : origins) {
    const std::vector<std::string> names = relax::origin_names(origin);
    if (!names.empty()) notes.push_back({"nodes." + kernel, fmt::format("{}", fmt::join(names, "\n"))});
  }
  return notes;
}

// Adds `record` to the record of the same step, so that each step has one.
void add_to(std::vector<ir::PassRecord>& records, const ir::PassRecord& record) {
  for (ir::PassRecord& known : records) {
    if (known.name != record.name) continue;
    known.seconds += record.seconds;
    known.changed |= record.changed;
    return;
  }
  records.push_back(record);
}

// Leaves out the passes that bring graphs into forms which only CPUs gain by.
void leave_out_cpu_passes(ir::PassContext& context) {
  for (const char* name : {"winograd", "integer_products", "quantize_before_moves", "alias_slices"})
    context.disabled.emplace_back(name);
}

}  // namespace

Executable build_graph(ir::IRModule module, const std::vector<ir::Target>& targets, ir::PassContext& context,
                       const StageObserver& on_stage, bool check_bounds, const records::Database* records) {
  using Clock = std::chrono::steady_clock;
  relax::check_context(context);
  const Finally restore([&context, features = context.features, disabled = context.disabled] {
    context.features = features;
    context.disabled = disabled;
  });
  if (verifies_passes() && !context.verify) context.verify = &verify_module;
  // weights change their form one after the other: blocks that are freed cannot be reused by the next one
  std::optional<runtime::LargeBlocks::NoneKept> none_kept(std::in_place, runtime::LargeBlocks::of_process());
  Executable result;
  auto stage = [&, start = Clock::now()](std::string name) mutable {
    const auto now = Clock::now();
    result.times.push_back({std::move(name), "", std::chrono::duration<double>(now - start).count()});
    start = now;
    if (on_stage) on_stage(result.times.back());
  };
  const Placement placement = place_graph(&module, targets);
  const ir::Target& target = placement.main();
  result.legalized = normalized(std::move(module));
  const std::string indices = indices_text(result.legalized);
  stage("normalize");
  context.clear_records();
  const Generator generator = make_generator(target);
  const bool has_gpu = std::any_of(placement.targets.begin(), placement.targets.end(),
                                   [](const ir::Target& each) { return target::is_gpu(each); });
  if (has_gpu) leave_out_cpu_passes(context);
  result.legalized = located(result.legalized, placement, true, context);
  // rules about vectors and caches of CPUs have nothing to say about a GPU
  context.features =
      std::make_shared<const target::Features>(has_gpu ? target::Features{} : generator.features);
  context.likely_sizes = relax::likely_sizes(result.legalized, std::move(context.likely_sizes));
  result.legalized = ir::run_pipeline(relax::default_pipeline(), std::move(result.legalized), context);
  result.legalized = relax::with_likely_sizes(result.legalized, context.likely_sizes);
  result.legalized = located(result.legalized, placement, false, context);
  stage("graph passes");
  if (context.opt_level >= 2 && !has_gpu) {
    result.legalized = pack_weights(std::move(result.legalized), generator.features);
    stage("pack weights");
  }
  result.legalized = with_kernel_targets(result.legalized, placement);
  none_kept.reset();  // weights have their final form; calls of other threads may reuse blocks again
  result.lowered = ir::run_pipeline(relax::lowering_pipeline(), result.legalized, context);
  relax::VmProgram program = relax::vm_codegen(result.lowered);
  result.code = std::move(program.executable);
  result.code.devices = placement.devices;
  result.plans = std::move(program.plans);
  stage("plan memory");
  result.code.notes = notes_of(result.legalized, target, generator.needed_features);
  for (runtime::vm::Note& note : node_notes(result.legalized)) result.code.notes.push_back(std::move(note));
  if (!indices.empty()) result.code.notes.push_back({"indices", indices});
  // plans are noted when kernels are compiled, before anything is exported
  const auto code = std::make_shared<runtime::vm::Executable>(result.code);
  const auto blob = [code] {
    const std::vector<std::byte> bytes = runtime::vm::save(*code);
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  BuildOptions options{.name = "model",
                       .schedules = context.opt_level > 0 || generator.gpu,  // a GPU runs nothing without
                       .check_bounds = check_bounds,
                       .records = records,
                       .blob = blob,
                       .on_stage = on_stage};
  std::vector<ir::PassRecord> steps;
  options.on_step = [&](const ir::PassRecord& record) { add_to(steps, record); };
  result.kernels = build(result.legalized, target, options);
  for (const auto& [name, plans] : kernel_plans(result.kernels))
    result.code.notes.push_back({"plans." + name, plans});
  for (const auto& [name, record] : kernel_records(result.kernels))
    result.code.notes.push_back({fmt::format("{}{}", kRecordNote, name), records::to_json(record)});
  code->notes = result.code.notes;
  result.passes = context.records();
  result.passes.insert(result.passes.end(), steps.begin(), steps.end());
  stage("compile kernels");
  return result;
}

Executable build_graph(ir::IRModule module, const ir::Target& target, ir::PassContext& context,
                       const StageObserver& on_stage, bool check_bounds, const records::Database* records) {
  return build_graph(std::move(module), std::vector<ir::Target>{target}, context, on_stage, check_bounds,
                     records);
}

std::vector<std::pair<std::string, records::Record>> noted_records(const runtime::vm::Executable& code) {
  std::vector<std::pair<std::string, records::Record>> found;
  for (const runtime::vm::Note& note : code.notes) {
    if (note.name.starts_with(kRecordNote))
      found.emplace_back(note.name.substr(kRecordNote.size()), records::from_json(note.text));
  }
  return found;
}

runtime::vm::VirtualMachine load_model(const runtime::Module& library, std::vector<runtime::Device> devices) {
  runtime::vm::VirtualMachine machine = runtime::vm::VirtualMachine::from_module(library, std::move(devices));
  std::istringstream features(std::string(machine.executable().note("features")));
  std::vector<std::string> needed;
  for (std::string feature; std::getline(features, feature, ',');) needed.push_back(feature);
  const std::vector<std::string> lacking = lacking_features(needed);
  if (!lacking.empty())
    throw UserError("{} was compiled for a CPU with {}, which this one lacks", library.name(),
                    fmt::join(lacking, ", "))
        .help("compile the model on this machine, or with a -mcpu that suits both");
  return machine;
}

}  // namespace tilewright::driver
