// Bindings for building and running: libraries, executables, virtual machines, timing.
#include "tilewright/arith/likely.h"
#include "tilewright/driver/build_graph.h"
#include "tilewright/driver/cuda_compiler.h"
#include "tilewright/driver/ptxas.h"
#include "tilewright/driver/reproducible.h"
#include "tilewright/driver/target.h"
#include "tilewright/driver/target_of_device.h"
#include "tilewright/driver/verify_passes.h"
#include "tilewright/explain/device.h"
#include "tilewright/explain/explain.h"
#include "tilewright/explain/lint.h"
#include "tilewright/frontend/onnx/import/import.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "tilewright/python/bindings.h"
#include "tilewright/python/convert.h"
#include "tilewright/python/locks.h"
#include "tilewright/python/onnx_converters.h"
#include "tilewright/python/records.h"
#include "tilewright/python/values.h"
#include "tilewright/relax/pass.h"
#include "tilewright/runtime/time_evaluator.h"
#include "tilewright/runtime/vm/print.h"
#include "tilewright/target/costs.h"
#include "tilewright/target/gpu_features.h"
#include "tilewright/tir/builder.h"

namespace tilewright::python {
namespace {

using driver::Executable;

nb::list passes_to_python(const std::vector<ir::PassRecord>& passes) {
  nb::list result;
  for (const ir::PassRecord& pass : passes)
    result.append(nb::make_tuple(nb::str(pass.name.data(), pass.name.size()), pass.seconds, pass.changed));
  return result;
}

nb::list times_to_python(const std::vector<driver::StageTime>& times) {
  nb::list result;
  for (const driver::StageTime& time : times) result.append(nb::make_tuple(time.stage, time.seconds));
  return result;
}

// `hooks` is None, or three functions (module, name, level): should_run, before, after.
ir::PassContext context_of(int opt_level, std::vector<std::string> disabled,
                           std::vector<std::string> required, nb::handle config, nb::handle hooks) {
  ir::PassContext context;
  context.opt_level = opt_level;
  context.disabled = std::move(disabled);
  context.required = std::move(required);
  context.config = attrs_from_python(config);
  if (driver::verifies_passes()) context.verify = &driver::verify_module;
  if (hooks.is_none()) return context;
  auto call = [](const nb::object& hook, const ir::PassInfo& info, const ir::IRModule& module) {
    return hook(module, nb::str(info.name.data(), info.name.size()), info.opt_level);
  };
  const nb::object should_run = hooks[0], before = hooks[1], after = hooks[2];
  context.should_run = [=](const ir::PassInfo& info, const ir::IRModule& module) {
    return locked([&] { return nb::cast<bool>(nb::bool_(call(should_run, info, module))); });
  };
  context.before_pass = [=](const ir::PassInfo& info, const ir::IRModule& module) {
    locked([&] { call(before, info, module); });
  };
  context.after_pass = [=](const ir::PassInfo& info, const ir::IRModule& module) {
    locked([&] { call(after, info, module); });
  };
  return context;
}

using frontend::onnx::CustomConverters;
using frontend::onnx::FixedDims;
using LikelySizes = std::map<std::string, std::vector<int64_t>>;

ir::IRModule imported(frontend::onnx::Model model, const FixedDims& shapes,
                      const CustomConverters& converters) {
  frontend::onnx::fix_dims(model, shapes);
  return frontend::onnx::import_model(model, converters);
}
ir::IRModule module_of_path(const std::string& path, const FixedDims& shapes, const nb::dict& converters) {
  return imported(frontend::onnx::load_model(path), shapes, custom_converters(converters));
}
ir::IRModule module_of_bytes(const nb::bytes& bytes, const FixedDims& shapes, const nb::dict& converters) {
  return imported(frontend::onnx::parse_model({bytes.c_str(), bytes.size()}, ".", "the model"), shapes,
                  custom_converters(converters));
}

// [(name, value, unit, doc, source)]
nb::list rows_to_python(const std::vector<target::FeatureRow>& rows) {
  nb::list list;
  for (const target::FeatureRow& row : rows)
    list.append(nb::make_tuple(std::string(row.name), row.value, std::string(row.unit), std::string(row.doc),
                               row.source));
  return list;
}

// A module, or an ONNX model as bytes or path; its module has no other owner, so that compiling it frees its
// constants.
using GraphSource = std::variant<ir::IRModule, nb::bytes, std::string>;
ir::IRModule module_of(const GraphSource& source, const FixedDims& shapes, const nb::dict& converters) {
  if (const auto* path = std::get_if<std::string>(&source)) return module_of_path(*path, shapes, converters);
  if (const auto* bytes = std::get_if<nb::bytes>(&source)) return module_of_bytes(*bytes, shapes, converters);
  return std::get<ir::IRModule>(source);
}

// One of the modules of an executable that this process compiled.
ir::IRModule module_of(const Executable& executable, const ir::IRModule& module) {
  if (!module)
    throw UserError("{} only contains code, not the modules it was compiled from", executable.kernels.name())
        .help("ask the executable that tilewright.compile returned");
  return module;
}

void bind_build(nb::module_& m) {
  m.def(
      "build",
      [](const ir::IRModule& module, const ir::Target& target, bool schedules, bool check_bounds,
         nb::handle records) {
        const DatabaseArg database(records);
        const Unlocked unlocked;
        driver::BuildOptions options;
        options.records = database.get();
        options.schedules = schedules;
        options.check_bounds = check_bounds;
        return driver::build(module, target, options);
      },
      nb::arg("module"), nb::arg("target"), nb::arg("schedules"), nb::arg("check_bounds"),
      nb::arg("records").none());
  // [(block, rule, reason)] of the rules that did not apply, without those for other computations
  m.def("schedule_by_rules", [](schedule::Schedule& sch, const ir::Target& target) {
    nb::list rejections;
    for (const schedule::Attempt& each : driver::schedule_by_rules(sch, target))
      if (!each.is_applied() && each.concerns_block())
        rejections.append(nb::make_tuple(each.block, each.rule, each.reason->text));
    return rejections;
  });
  m.def("explain", [](const schedule::Schedule& sch, const std::string& name, const ir::Target& target) {
    const Unlocked unlocked;
    if (target::is_gpu(target))
      return explain::to_text(explain::explain_for_gpu(sch, name, target), explain::peaks_of_gpu(target));
    const explain::Peaks peaks = explain::peaks_of_machine();
    const explain::KernelReport report = explain::explain(sch, name, target, peaks);
    const explain::Peaks raised = explain::raised(peaks, {report});
    explain::keep(raised);
    return explain::to_text(report, raised);
  });
  m.def(
      "lint",
      [](const schedule::Schedule& sch, const std::string& name, const ir::Target& target,
         std::optional<int64_t> registers, bool asks_ptxas) {
        std::vector<explain::Finding> findings;
        {
          const Unlocked unlocked;
          findings = explain::lint(sch, name, target, explain::RegisterSource{registers, asks_ptxas});
        }
        nb::list list;
        for (const explain::Finding& each : findings)
          list.append(nb::make_tuple(each.kind, each.kernel, each.figure, each.text()));
        return list;
      },
      nb::arg("sch"), nb::arg("name"), nb::arg("target"), nb::arg("registers").none(), nb::arg("asks_ptxas"));
  m.def("target_of_device", &driver::target_of_device);
  m.def("ptxas_usage", [](const std::string& source, const std::string& arch) {
    nb::dict usages;
    for (const auto& [name, usage] : driver::ptxas_usage(source, arch))
      usages[name.c_str()] = nb::make_tuple(usage.registers, usage.shared_bytes, usage.spilled_bytes);
    return usages;
  });
  m.def("has_nvcc", [] { return !driver::find_nvcc().empty(); });
  m.def("module_source", &driver::get_source);
  m.def("target_features", [](const ir::Target& target) {
    const driver::Generator generator = driver::make_generator(target);
    return rows_to_python(generator.gpu ? generator.gpu->rows(generator.feature_sources)
                                        : generator.features.rows(generator.feature_sources));
  });
  m.def("target_costs", [] { return rows_to_python(target::cost_rows()); });
  m.def("export_library", &driver::export_library);
  nb::class_<Executable>(m, "Executable", nb::dynamic_attr(), "A compiled graph module.")
      .def_ro("kernels", &Executable::kernels)
      .def_prop_ro("legalized", [](const Executable& self) { return module_of(self, self.legalized); })
      .def_prop_ro("lowered", [](const Executable& self) { return module_of(self, self.lowered); })
      .def_prop_ro("times", [](const Executable& self) { return times_to_python(self.times); })
      .def_prop_ro("passes", [](const Executable& self) { return passes_to_python(self.passes); })
      .def_prop_ro("schedules",
                   [](const Executable& self) {
                     nb::dict schedules;
                     for (const driver::KernelSchedule& each : driver::kernel_schedules(self.kernels)) {
                       const std::string extents = schedule::extents_text(each.extents);
                       const std::string name =
                           extents.empty() ? each.function : fmt::format("{} ({})", each.function, extents);
                       schedules[nb::str(name.c_str())] = each.trace;
                     }
                     return schedules;
                   })
      .def_prop_ro("plans",
                   [](const Executable& self) {
                     nb::dict plans;
                     for (const auto& [name, plan] : self.plans) plans[nb::str(name.c_str())] = plan.str();
                     return plans;
                   })
      .def("as_text", [](const Executable& self) { return runtime::vm::to_text(self.code); })
      .def("as_python", [](const Executable& self) { return runtime::vm::to_python(self.code); })
      .def("counts",
           [](const Executable& self) {
             nb::dict counts;
             size_t instructions = 0;
             int64_t bytes = 0;
             for (const auto& function : self.code.functions) instructions += function.code.size();
             for (const runtime::Tensor& constant : self.code.constants) bytes += constant.num_bytes();
             counts["functions"] = self.code.functions.size();
             counts["instructions"] = instructions;
             counts["kernels and packed functions"] = self.code.callees.size();
             counts["constants"] = self.code.constants.size();
             counts["bytes of constants"] = bytes;
             return counts;
           })
      .def("machine", &Executable::machine, nb::arg("devices") = std::vector<runtime::Device>());
  // the executable of the model in a loaded library
  m.def("executable_of_library", [](const runtime::Module& library) {
    Executable executable;
    executable.kernels = library;
    executable.code = driver::load_model(library).executable();
    return executable;
  });
  m.def("check_pass_context", [](int opt_level, std::vector<std::string> disabled,
                                 std::vector<std::string> required, nb::handle config) {
    relax::check_context(context_of(opt_level, std::move(disabled), std::move(required), config, nb::none()));
  });
  m.def(
      "relax_run_pass",
      [](const std::string& name, const ir::IRModule& module, nb::handle options, nb::handle config,
         nb::handle hooks) {
        ir::PassContext context = context_of(3, {}, {}, config, hooks);
        return context.run(relax::find_pass(name), module, attrs_from_python(options));
      },
      nb::arg("name"), nb::arg("module"), nb::arg("options"), nb::arg("config"), nb::arg("hooks").none());
  m.def(
      "build_graph",
      [](const GraphSource& source, const std::vector<ir::Target>& targets, int opt_level,
         std::vector<std::string> disabled, std::vector<std::string> required, nb::handle config,
         nb::handle hooks, bool check_bounds, nb::handle records, const FixedDims& shapes,
         const LikelySizes& best_at, bool is_reproducible, const nb::dict& converters) {
        ir::PassContext context =
            context_of(opt_level, std::move(disabled), std::move(required), config, hooks);
        for (const auto& [name, sizes] : best_at) context.likely_sizes.set(name, arith::likely_item(sizes));
        ir::IRModule module = module_of(source, shapes, converters);
        const DatabaseArg database(records);
        const records::Database* known = database.get();
        std::optional<driver::Reproducible> reproducible;
        if (is_reproducible) known = reproducible.emplace(targets.at(0), context, known).records();
        const Unlocked unlocked;
        return driver::build_graph(std::move(module), targets, context, {}, check_bounds, known);
      },
      nb::arg("source"), nb::arg("targets"), nb::arg("opt_level"), nb::arg("disabled"), nb::arg("required"),
      nb::arg("config"), nb::arg("hooks").none(), nb::arg("check_bounds"), nb::arg("records").none(),
      nb::arg("shapes") = FixedDims{}, nb::arg("best_at") = LikelySizes{}, nb::arg("reproducible") = false,
      nb::arg("converters") = nb::dict());
}

void bind_timing(nb::module_& m) {
  nb::class_<runtime::TimingResult>(m, "TimingResult", "Measured times, in seconds per call.")
      .def_ro("results", &runtime::TimingResult::results_s)
      .def_ro("mean", &runtime::TimingResult::mean_s)
      .def_ro("median", &runtime::TimingResult::median_s)
      .def_ro("min", &runtime::TimingResult::min_s)
      .def_ro("max", &runtime::TimingResult::max_s)
      .def_ro("std", &runtime::TimingResult::std_s)
      .def("__repr__", &runtime::TimingResult::str)
      .def("__str__", &runtime::TimingResult::str);
  m.def("time_function", [](const runtime::Function& function, nb::args args, nb::kwargs options) {
    runtime::TimingOptions timing;
    if (options.contains("number")) timing.number = nb::cast<int>(options["number"]);
    if (options.contains("repeat")) timing.repeat = nb::cast<int>(options["repeat"]);
    if (options.contains("min_repeat_ms")) timing.min_repeat_ms = nb::cast<int>(options["min_repeat_ms"]);
    if (options.contains("cache_flush_bytes"))
      timing.cache_flush_bytes = nb::cast<int64_t>(options["cache_flush_bytes"]);
    std::vector<runtime::Value> values;
    for (nb::handle arg : args) values.push_back(value_from_python(arg));
    const Unlocked unlocked;
    return runtime::time_evaluator(function, values, timing);
  });
}

}  // namespace

void bind_driver(nb::module_& m) {
  m.def("onnx_operators", [] {
    nb::list names;
    for (const std::string& name : frontend::onnx::imported_operators()) names.append(name);
    return names;
  });
  m.def("import_onnx", &module_of_path);
  m.def("import_onnx_bytes", &module_of_bytes);
  bind_build(m);
  bind_timing(m);
}

}  // namespace tilewright::python
