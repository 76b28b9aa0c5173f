// Passes and the context that runs them.  A pass is a free function in its own file of a registry folder; the
// context does once what no pass should: switch off by name or level, time, verify and dump after it, add its
// name to errors.
#pragma once
#include <functional>
#include <memory>

#include "tilewright/ir/module.h"
#include "tilewright/ir/options.h"

namespace tilewright::target {
struct Features;  // target/features.h, a layer above
}  // namespace tilewright::target

namespace tilewright::ir {

class PassContext;

struct PassInfo {
  std::string_view name;  // as users disable it: "fuse_ops"
  std::string_view doc;   // one sentence: what is true after it
  int opt_level;          // runs when the context's level is at least this
  IRModule (*run)(const IRModule& module, const AttrMap& options, PassContext& context);
  std::vector<OptionInfo> (*options)();
};

/// One run of a pass, as instruments see it.
struct PassRecord {
  std::string_view name;
  double seconds;
  bool changed;
};

/// How a pipeline runs.  One context belongs to one thread; it is passed on explicitly.
class PassContext {
 public:
  int opt_level = 2;                  // 0..3; what each level means stands in relax/pipeline.h
  std::vector<std::string> disabled;  // passes that are skipped
  std::vector<std::string> required;  // passes that run whatever the level
  AttrMap config;                     // "pass_name.option": value; options given in the pipeline come first
  std::function<bool(const PassInfo&, const IRModule&)> should_run;  // asked of each pass that is enabled
  std::function<void(const PassInfo&, const IRModule&)> before_pass, after_pass;
  std::function<void(const IRModule&)> verify;       // called after each pass that changed something
  std::shared_ptr<const target::Features> features;  // of the machine that code is made for; null: not known

  /// The module after `info` with `options`; the module itself when the pass is switched off or changes
  /// nothing.
  IRModule run(const PassInfo& info, const IRModule& module, const AttrMap& options = {});
  /// What ran, in order.
  const std::vector<PassRecord>& records() const { return records_; }
  void clear_records() { records_.clear(); }
  bool is_enabled(const PassInfo& info) const;

 private:
  AttrMap options_of(const PassInfo& info, const AttrMap& given) const;
  std::vector<PassRecord> records_;
};

/// A step of a pipeline: a pass and its options.
struct PipelineStep {
  const PassInfo* pass;
  AttrMap options;
};
using Pipeline = std::vector<PipelineStep>;
IRModule run_pipeline(const Pipeline& pipeline, IRModule module, PassContext& context);

/// For passes without options.
struct NoOptions {
  static constexpr auto fields() { return std::tuple{}; }
};

/// The info of a pass over modules: `IRModule kRun(const IRModule&, const Options&, PassContext&)`.
///   constinit const PassInfo fuse_ops_info = module_pass<run, Options>("fuse_ops", "...", 1);
template <auto kRun, class Options = NoOptions>
constexpr PassInfo module_pass(std::string_view name, std::string_view doc, int opt_level = 0) {
  return {name, doc, opt_level,
          [](const IRModule& module, const AttrMap& options, PassContext& context) {
            return kRun(module, from_attrs<Options>(options, "pass options"), context);
          },
          &option_schema<Options>};
}

/// `module` with `change(func)` for every function of type F (tir::PrimFuncNode, relax::FunctionNode);
/// `module` itself if every one comes back unchanged.
template <class F, class Change>
IRModule map_functions(const IRModule& module, Change&& change) {
  IRModule result = module;
  for (size_t n = 0; n < module->functions.size(); ++n) {
    const Ref<F> func = ref_as<F>(module->functions[n]);
    if (!func) continue;
    Ref<F> changed = change(func);
    if (changed != func)
      result = with_function(result, module->global_vars[n]->name_hint, std::move(changed));
  }
  return result;
}

/// The info of a pass over functions of type F, applied to each: `Ref<F> kRun(const Ref<F>&, const
/// Options&)`.
template <class F, auto kRun, class Options = NoOptions>
constexpr PassInfo function_pass(std::string_view name, std::string_view doc, int opt_level = 0) {
  return {name, doc, opt_level,
          [](const IRModule& module, const AttrMap& options, PassContext&) {
            const Options parsed = from_attrs<Options>(options, "pass options");
            return map_functions<F>(module, [&](const Ref<F>& func) { return kRun(func, parsed); });
          },
          &option_schema<Options>};
}

}  // namespace tilewright::ir
