#include "tilewright/driver/kernel.h"

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
  }
  return kernels;
}

namespace {

schedule::PlannedFunction left_to_rules(const Kernel& kernel, const Generator& generator) {
  if (!generator.gpu) return schedule::plan_by_rules(kernel.name, kernel.func, generator.features);
  schedule::DefaultSchedule schedule = schedule::schedule_for_gpu(kernel.name, kernel.func, *generator.gpu);
  const tir::PrimFunc scheduled = schedule.func;
  return {scheduled, {{{}, std::move(schedule)}}};
}

}  // namespace

schedule::PlannedFunction schedule_kernel(const Kernel& kernel, const Generator& generator) {
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

std::optional<Hash128> cache_key(const Kernel& kernel, const Generator& generator) {
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
