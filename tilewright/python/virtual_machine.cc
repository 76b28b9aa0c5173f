// Bindings for virtual machines: their functions, inputs, outputs and callees.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <mutex>

#include "tilewright/driver/build_graph.h"
#include "tilewright/explain/explain.h"
#include "tilewright/python/bindings.h"
#include "tilewright/python/locks.h"
#include "tilewright/python/values.h"
#include "tilewright/runtime/thread_pool.h"
#include "tilewright/runtime/vm/print.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/error.h"
#include "tilewright/support/near.h"

namespace tilewright::python {
namespace {

using runtime::vm::BytecodeFunction;
using runtime::vm::VirtualMachine;

// [(callee, nanoseconds, bytes)] of the calls that the machine makes while `body` runs.
nb::list record_calls(const VirtualMachine& machine, const nb::object& body) {
  std::mutex mutex;  // a packed function may call the machine from another thread
  std::vector<std::tuple<std::string, int64_t, int64_t>> calls;
  machine.set_profiler([&](const runtime::vm::CallRecord& record) {
    const std::lock_guard lock(mutex);
    calls.emplace_back(record.callee, record.duration_ns, static_cast<int64_t>(explain::bytes_of(record)));
  });
  try {
    body();
  } catch (...) {
    machine.set_profiler(nullptr);
    throw;
  }
  machine.set_profiler(nullptr);
  nb::list result;
  for (const auto& [callee, duration, bytes] : calls) result.append(nb::make_tuple(callee, duration, bytes));
  return result;
}

const BytecodeFunction& public_function(const VirtualMachine& machine, const std::string& name) {
  machine.get_function(name);  // raises if there is none
  for (const BytecodeFunction& function : machine.executable().functions) {
    if (function.name == name) return function;
  }
  throw InternalError("function {} is not in its executable", name);
}

// Calls `hook(function, name, before, result, args...)` before and after each call; if it returns 1 before,
// the call is skipped.
void set_instrument(const VirtualMachine& machine, const nb::object& hook) {
  if (hook.is_none()) return machine.set_instrument({});
  auto ask = [hook](const runtime::Function& callee, std::string_view name, bool is_before,
                    const runtime::Value& result, runtime::Args args) {
    nb::list given;
    given.append(value_to_python(runtime::Value(callee)));
    given.append(nb::str(name.data(), name.size()));
    given.append(nb::bool_(is_before));
    given.append(value_to_python(result));
    for (const runtime::Value& arg : args) given.append(value_to_python(arg));
    return hook(*nb::tuple(given));
  };
  runtime::vm::Instrument instrument;
  instrument.before = [ask](const runtime::Function& callee, std::string_view name, runtime::Args args) {
    return locked([&] {
      const nb::object answer = ask(callee, name, true, {}, args);
      return answer.is_none() || nb::cast<int>(nb::int_(answer)) != 1;
    });
  };
  instrument.after = [ask](const runtime::Function& callee, std::string_view name, runtime::Args args,
                           const runtime::Value& result) {
    locked([&] { ask(callee, name, false, result, args); });
  };
  machine.set_instrument(std::move(instrument));
}

/// A function of a model, which also accepts arguments by name.
struct ModelFunction : runtime::Function {
  VirtualMachine machine;
  const BytecodeFunction* code;  // in the machine's executable
  bool has_strings;              // among its inputs and outputs
};

// True if one of `values` is a tensor, or a sequence, of strings.
bool has_strings(const std::vector<runtime::vm::Description>& values) {
  return std::any_of(values.begin(), values.end(), [](const runtime::vm::Description& value) {
    return value.type.starts_with("string") || value.type.starts_with("sequence of strings");
  });
}

ModelFunction model_function(const VirtualMachine& machine, const std::string& name) {
  const BytecodeFunction& code = public_function(machine, name);
  return {machine.get_function(name), machine, &code,
          has_strings(code.parameters) || has_strings(code.results)};
}

size_t position_of(const BytecodeFunction& function, const std::string& name) {
  std::vector<std::string_view> names;
  for (size_t n = 0; n < function.parameters.size(); ++n) {
    if (function.parameters[n].name == name) return n;
    names.emplace_back(function.parameters[n].name);
  }
  throw UserError("{} has no input \"{}\"", function.name, name)
      .help("{}; {}", nearest_names_text(name, names), usage(function));
}

// The arguments in the order of the function's parameters.
nb::tuple ordered(const BytecodeFunction& function, const nb::args& args, const nb::kwargs& named) {
  const size_t count = function.parameters.size();
  if (args.size() > count)
    throw UserError("{}: {} are given by position, but it has {}", function.name,
                    count_text(args.size(), "argument"), count_text(count, "input"))
        .help("{}", usage(function));
  std::vector<nb::object> values(count);
  for (size_t n = 0; n < args.size(); ++n) values[n] = args[n];
  for (auto [key, value] : named) {
    const auto name = nb::cast<std::string>(key);
    nb::object& place = values[position_of(function, name)];
    if (place.is_valid())
      throw UserError("{}: input \"{}\" is given twice, by position and by name", function.name, name)
          .help("{}", usage(function));
    place = nb::borrow(value);
  }
  nb::list result;
  std::string missing;
  for (size_t n = 0; n < count; ++n) {
    if (values[n].is_valid())
      result.append(values[n]);
    else
      missing += fmt::format("{}\"{}\"", missing.empty() ? "" : ", ", function.parameters[n].name);
  }
  if (!missing.empty())
    throw UserError("{}: no value is given for {}", function.name, missing).help("{}", usage(function));
  return nb::tuple(result);
}

// ([(name, type)] of the inputs, the same for the outputs, all as text)
nb::tuple described(const BytecodeFunction& function) {
  const auto listed = [](const std::vector<runtime::vm::Description>& values) {
    nb::list items;
    for (const runtime::vm::Description& value : values) items.append(nb::make_tuple(value.name, value.type));
    return items;
  };
  return nb::make_tuple(listed(function.parameters), listed(function.results), signature(function));
}

// `args` as compiled code takes them: strings become pairs of tensors.
nb::args with_pairs(const ModelFunction& function, const nb::args& args) {
  if (!function.has_strings) return args;
  return nb::borrow<nb::args>(
      nb::tuple(nb::module_::import_("tilewright.runtime.strings")
                    .attr("given")(function.name(), described(*function.code)[0], args)));
}

nb::object call_model(const ModelFunction& function, const nb::args& args) {
  nb::object result = call_function(function, with_pairs(function, args));
  if (!function.has_strings) return result;
  return nb::module_::import_("tilewright.runtime.strings")
      .attr("results")(described(*function.code)[1], result);
}

}  // namespace

void bind_machine(nb::module_& m) {
  nb::class_<ModelFunction, runtime::Function>(
      m, "ModelFunction", "A function of a model; its inputs are given by position or by name.")
      .def("__call__", &call_model)
      .def("__call__",
           [](const ModelFunction& self, nb::args args, nb::kwargs named) {
             return call_model(self, nb::borrow<nb::args>(ordered(*self.code, args, named)));
           })
      .def("with_pairs", [](const ModelFunction& self, nb::args args) { return with_pairs(self, args); })
      .def("__repr__",
           [](const ModelFunction& self) { return fmt::format("<Function {}>", signature(*self.code)); });
  nb::class_<VirtualMachine>(m, "Machine", "Runs compiled graph functions.")
      .def("get_function", &model_function)
      .def("described", [](const VirtualMachine& self,
                           const std::string& name) { return described(public_function(self, name)); })
      .def("ordered", [](const VirtualMachine& self, const std::string& name, nb::args args,
                         nb::kwargs named) { return ordered(public_function(self, name), args, named); })
      .def("record_calls", &record_calls)
      .def_prop_ro("devices", &VirtualMachine::devices)
      .def("note", [](const VirtualMachine& self,
                      const std::string& name) { return std::string(self.executable().note(name)); })
      .def("set_instrument", &set_instrument, nb::arg("hook").none())
      .def_prop_ro("graph_names",
                   [](const VirtualMachine& self) {
                     std::vector<std::string> names;
                     for (const BytecodeFunction& function : self.executable().functions) {
                       if (function.is_public) names.push_back(function.name);
                     }
                     return names;
                   })
      .def_prop_ro("function_names",
                   [](const VirtualMachine& self) { return self.module().list_functions(); });
  m.def("machine_of_module", &driver::load_model, nb::arg("library"), nb::arg("devices"));
  m.def("set_num_threads", [](int count) { runtime::set_num_threads(count); });
  m.def("num_threads", [] { return runtime::num_threads(); });
}

}  // namespace tilewright::python
