#include "tilewright/ir/pass.h"

#include <algorithm>
#include <chrono>

#include "tilewright/runtime/interrupt.h"
#include "tilewright/support/one_of.h"

namespace tilewright::ir {
bool PassContext::is_enabled(const PassInfo& info) const {
  if (is_one_of(info.name, disabled)) return false;
  return opt_level >= info.opt_level || is_one_of(info.name, required);
}

AttrMap PassContext::options_of(const PassInfo& info, const AttrMap& given) const {
  AttrMap options = given;
  const std::string prefix = std::string(info.name) + ".";
  for (const auto& [key, value] : config) {
    if (!key.starts_with(prefix)) continue;
    const std::string name = key.substr(prefix.size());
    if (!options.contains(name)) options.set(name, value);
  }
  return options;
}

IRModule PassContext::run(const PassInfo& info, const IRModule& module, const AttrMap& options) {
  if (!is_enabled(info) || (should_run && !should_run(info, module))) return module;
  runtime::check_interrupt();
  if (before_pass) before_pass(info, module);
  const auto start = std::chrono::steady_clock::now();
  IRModule result;
  try {
    result = info.run(module, options_of(info, options), *this);
  } catch (Error& error) {
    error.add_prefix(info.name);
    throw;
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  const bool changed = result != module;
  records_.push_back({info.name, elapsed.count(), changed});
  if (changed && verify) {
    try {
      verify(result);
    } catch (const Error& error) {
      throw InternalError("pass {} made a malformed program: {}", info.name, error.text());
    }
  }
  if (after_pass) after_pass(info, result);
  return result;
}

IRModule run_pipeline(const Pipeline& pipeline, IRModule module, PassContext& context) {
  for (const PipelineStep& step : pipeline) module = context.run(*step.pass, module, step.options);
  return module;
}

}  // namespace tilewright::ir
