#include "tilewright/driver/kernel.h"

#include <algorithm>
#include <map>

#include "tilewright/driver/build_id.h"
#include "tilewright/ir/services.h"
#include "tilewright/lower/annotations.h"
#include "tilewright/lower/functions/inline_calls.h"
#include "tilewright/lower/steps/check_sizes.h"
#include "tilewright/records/apply.h"
#include "tilewright/schedule/default/extent_plans.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"

namespace tilewright::driver {

std::vector<Kernel> kernels_of(const ir::IRModule& module, bool are_left_to_rules, bool are_checked,
                               const std::string& machine) {
  std::vector<Kernel> kernels;
  std::map<std::string, std::shared_ptr<const Generator>> generators;
  for (size_t n = 0; n < module->functions.size(); ++n) {
    const tir::PrimFunc func = ir::ref_as<tir::PrimFuncNode>(module->functions[n]);
    if (!func) continue;
    std::string name = func->attrs.get_string("global_symbol", module->global_vars[n]->name_hint);
    for (const Kernel& other : kernels) {
      if (other.name == name)
        throw UserError(func, "two functions of the module have the global_symbol \"{}\"", name);
    }
    tir::PrimFunc whole = lower::inline_calls(module, func);
    records::Key key = machine.empty() ? records::Key() : records::key_of(whole, machine);
    if (are_checked)
      whole = with(whole, [&](tir::PrimFuncNode& checked) {
        checked.attrs.set(std::string(lower::kCheckBounds), tir::string_imm(name));
      });
    else
      whole = lower::with_size_checks(name, whole);
    kernels.push_back({std::move(name), std::move(whole), are_left_to_rules, std::move(key)});
    const auto target = ir::ref_as<ir::TargetNode>(func->attrs.get(kKernelTarget));
    if (!target) continue;
    std::shared_ptr<const Generator>& generator = generators[target->str()];
    if (!generator) generator = std::make_shared<const Generator>(make_generator(target));
    kernels.back().own_generator = generator;
    kernels.back().key = {};  // records are of the module's machine
  }
  return kernels;
}

namespace {

void add_sources(const Generator& from, Generator* to) {
  for (const SourceFormat& source : from.sources) {
    const bool is_known = std::any_of(to->sources.begin(), to->sources.end(),
                                      [&](const SourceFormat& known) { return known.name == source.name; });
    if (!is_known) to->sources.push_back(source);
  }
}

schedule::PlannedFunction left_to_rules(const Kernel& kernel, const Generator& generator) {
  if (!generator.gpu) return schedule::plan_by_rules(kernel.name, kernel.func, generator.features);
  schedule::DefaultSchedule schedule = schedule::schedule_for_gpu(kernel.name, kernel.func, *generator.gpu);
  const tir::PrimFunc scheduled = schedule.func;
  return {scheduled, {{{}, std::move(schedule)}}};
}

}  // namespace

Generator joined_generator(const Generator& of_module, const std::vector<Kernel>& kernels) {
  std::vector<const Generator*> all;
  for (const Kernel& kernel : kernels) {
    const Generator* generator = &kernel.generator(of_module);
    if (std::find(all.begin(), all.end(), generator) == all.end()) all.push_back(generator);
  }
  if (all.empty()) all.push_back(&of_module);
  const auto is_device = [](const Generator* generator) {
    return static_cast<bool>(generator->device_source);
  };
  const auto device = std::find_if(all.begin(), all.end(), is_device);
  Generator joined = device == all.end() ? *all[0] : **device;
  for (const Generator* other : all) {
    if (other->machine != joined.machine || !other->object != !joined.object)
      throw Unsupported("a module with code of the host for {} and {}, or by several compilers",
                        joined.machine, other->machine)
          .help("give all devices the same host, e.g. Target(\"opencl\", host=\"llvm\")");
    add_sources(*other, &joined);
    for (const std::string& feature : other->needed_features) {
      if (std::find(joined.needed_features.begin(), joined.needed_features.end(), feature) ==
          joined.needed_features.end())
        joined.needed_features.push_back(feature);
    }
  }
  return joined;
}

schedule::PlannedFunction schedule_kernel(const Kernel& kernel, const Generator& of_module) {
  const Generator& generator = kernel.generator(of_module);
  if (!kernel.is_left_to_rules) return {kernel.func, {{{}, {kernel.func, {}, {}}}}};
  std::optional<schedule::Attempt> refused;
  if (kernel.record && !kernel.record->trace.empty()) {
    records::Applied applied = records::apply(*kernel.record, kernel.func);
    if (applied.func) return {applied.func, {{{}, {applied.func, std::move(applied.trace), {}}}}};
    refused = {kernel.name, std::string(records::kRule), std::move(applied.reason)};
  }
  schedule::PlannedFunction planned = left_to_rules(kernel, generator);
  if (refused) {
    std::vector<schedule::Attempt>& attempts = planned.plans[0].schedule.attempts;
    attempts.insert(attempts.begin(), *std::move(refused));
  }
  return planned;
}

bool is_record_refused(const schedule::PlannedFunction& planned) {
  const std::vector<schedule::Attempt>& attempts = planned.plans[0].schedule.attempts;
  return !attempts.empty() && attempts[0].rule == records::kRule;
}

std::string plans_text(const schedule::PlannedFunction& planned) {
  if (planned.plans.size() == 1) return "";
  std::string text;
  for (const schedule::Plan& plan : planned.plans) text += schedule::plan_text(plan.extents) + "\n";
  return text;
}

std::optional<Hash128> cache_key(const Kernel& kernel, const Generator& of_module) {
  const Generator& generator = kernel.generator(of_module);
  static const std::string compiler = build_id();
  const bool is_checked = kernel.func->attrs.contains(lower::kCheckBounds);
  if (compiler.empty() || generator.code_key.empty() || is_checked) return std::nullopt;
  Hasher hasher;
  hasher.add(compiler).add(generator.code_key).add(kernel.name).add(uint64_t{kernel.is_left_to_rules});
  if (kernel.record) hasher.add(kernel.record->trace);
  hasher.add(ir::save_json(kernel.func));  // includes names, which messages in the code may contain
  return hasher.finish();
}

}  // namespace tilewright::driver
