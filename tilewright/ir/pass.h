// Passes and the context that runs them.  A pass is a free function in its own file of a registry folder; the
// context does what all passes need: skip by name or level, measure time, verify and dump the result, add the
// pass's name to errors.
#pragma once
#include <functional>
#include <memory>

#include "tilewright/ir/module.h"
#include "tilewright/ir/options.h"

namespace tilewright::target {
struct Features;  // target/features.h, in a higher layer
}  // namespace tilewright::target

namespace tilewright::ir {

class PassContext;

struct PassInfo {
  std::string_view name;  // the name by which users disable it: "fuse_ops"
  std::string_view doc;   // one sentence about the program after the pass
  int opt_level;          // it runs if the context's level is at least this
  IRModule (*run)(const IRModule& module, const AttrMap& options, PassContext& context);
  std::vector<OptionInfo> (*options)();
};

/// One run of a pass, as reported to instruments.
struct PassRecord {
  std::string_view name;
  double seconds;
  bool changed;
};

/// The settings of a pipeline.  A context belongs to one thread and is passed explicitly.
class PassContext {
 public:
  int opt_level = 2;                  // 0..3; relax/pipeline.h defines the levels
  std::vector<std::string> disabled;  // passes that are skipped
  std::vector<std::string> required;  // passes that run at any level
  // "pass_name.option": value; options given in the pipeline override them
  AttrMap config;
  std::function<bool(const PassInfo&, const IRModule&)> should_run;  // called for each pass that is enabled
  std::function<void(const PassInfo&, const IRModule&)> before_pass, after_pass;
  std::function<void(const IRModule&)> verify;       // called after each pass that changed something
  std::shared_ptr<const target::Features> features;  // features of the target machine; null: unknown
  AttrMap
      likely_sizes;  // likely values of symbolic sizes by their names, {"n": [1, 8]}; plans are best at them

  /// The module after `info` with `options`; the same object if the pass is disabled or changes nothing.
  IRModule run(const PassInfo& info, const IRModule& module, const AttrMap& options = {});
  /// The passes that ran, in order.
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

/// `module` with each function of type F (tir::PrimFuncNode, relax::FunctionNode) replaced by `change(func)`;
/// the same object if none changed.
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

/// The info of a pass that is applied to each function of type F: `Ref<F> kRun(const Ref<F>&, const
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
