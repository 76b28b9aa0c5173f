// Bindings for the reference interpreter and the well-formedness check.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "tilewright/analysis/flops.h"
#include "tilewright/analysis/interpreter.h"
#include "tilewright/analysis/regions.h"
#include "tilewright/analysis/specialize.h"
#include "tilewright/analysis/verify.h"
#include "tilewright/lower/lower.h"
#include "tilewright/lower/pipeline.h"
#include "tilewright/python/bindings.h"
#include "tilewright/python/convert.h"
#include "tilewright/python/locks.h"
#include "tilewright/python/values.h"
#include "tilewright/support/error.h"

namespace tilewright::python {
namespace {

nb::object interpret(const ir::ObjectRef& program, const std::string& name, const nb::args& args,
                     bool check_races, int64_t max_steps) {
  std::vector<runtime::Value> values;
  for (nb::handle arg : args) values.push_back(value_from_python(arg));
  analysis::InterpretOptions options;
  options.check_races = check_races;
  options.max_steps = max_steps;
  const runtime::Value result = [&] {
    const Unlocked unlocked;
    if (ir::is<ir::IRModuleNode>(program))
      return analysis::interpret(ir::ref_as<ir::IRModuleNode>(program), name, values, options);
    if (ir::is<tir::PrimFuncNode>(program))
      return analysis::interpret(ir::ref_as<tir::PrimFuncNode>(program), values, options);
    throw UserError("interpret takes a module or a loop program");
  }();
  return value_to_python(result);
}

void verify(const ir::ObjectRef& program) {
  if (ir::is<ir::IRModuleNode>(program)) return analysis::verify(ir::ref_as<ir::IRModuleNode>(program));
  if (ir::is<tir::PrimFuncNode>(program)) return analysis::verify(ir::ref_as<tir::PrimFuncNode>(program));
  throw UserError("verify takes a module or a loop program");
}

// The program after one step of lowering, with the options of `target`, of another target that has it, or its defaults.
tir::PrimFunc lowering_step(const std::string& name, const tir::PrimFunc& func, const std::string& target) {
  const lower::Step* found = nullptr;
  for (const lower::Pipeline* pipeline : lower::all_pipelines()) {
    for (const lower::Step* step : pipeline->steps()) {
      if (step->name() == name && (!found || pipeline->name == target)) found = step;
    }
  }
  return found ? (*found)(func) : lower::Step{&lower::find_step(name)}(func);
}

// [(name, description)] in order
std::vector<std::pair<std::string, std::string>> lowering_steps(const std::string& target) {
  std::vector<std::pair<std::string, std::string>> steps;
  for (const lower::Pipeline* pipeline : lower::all_pipelines()) {
    if (pipeline->name != target) continue;
    for (const lower::Step* step : pipeline->steps())
      steps.emplace_back(std::string(step->name()), std::string(step->info->doc));
  }
  return steps;
}

}  // namespace

void bind_analysis(nb::module_& m) {
  m.def("interpret",
        [](const ir::ObjectRef& program, const std::string& name, bool check_races, int64_t max_steps,
           const nb::args& args) { return interpret(program, name, args, check_races, max_steps); });
  m.def("verify", &verify);
  m.def("access_regions", [](const tir::Stmt& stmt) {
    analysis::AccessRegions regions = analysis::access_regions(stmt);
    return std::pair(regions.reads, regions.writes);
  });
  m.def("count_flops", [](const tir::PrimFunc& func) { return analysis::count_flops(func); });
  m.def("specialize", &analysis::specialize);
  m.def("lowering_step", &lowering_step, nb::arg("name"), nb::arg("func"), nb::arg("target") = "llvm");
  m.def("lowering_steps", &lowering_steps);
  m.def("lowered_module",
        [](const std::string& name, const tir::PrimFunc& func) { return lower::lower_for_cpu(name, func); });
}

}  // namespace tilewright::python
