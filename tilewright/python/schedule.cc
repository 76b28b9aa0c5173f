// Bindings for schedules.  python/tilewright/schedule creates the methods of primitives from
// primitive_table().
#include "tilewright/schedule/schedule.h"

#include <nanobind/stl/string.h>

#include "tilewright/python/bindings.h"
#include "tilewright/python/convert.h"
#include "tilewright/python/locks.h"
#include "tilewright/schedule/describe.h"
#include "tilewright/schedule/intrinsics/tensor_intrin.h"

namespace tilewright::python {
namespace {

using schedule::ArgValue;
using schedule::BlockRef;
using schedule::ExprRef;
using schedule::LoopRef;
using schedule::Schedule;

ArgValue arg_from_python(nb::handle value) {
  PyObject* object = value.ptr();
  if (value.is_none()) return {};
  if (PyBool_Check(object)) return ArgValue(object == Py_True);
  if (PyLong_Check(object)) {
    int64_t number;
    if (!nb::try_cast(value, number)) throw UserError("{} is not a 64-bit integer", nb::repr(value).c_str());
    return ArgValue(number);
  }
  if (PyFloat_Check(object)) return ArgValue(PyFloat_AsDouble(object));
  if (PyUnicode_Check(object)) return ArgValue(nb::cast<std::string>(value));
  if (nb::isinstance<BlockRef>(value)) return ArgValue(nb::cast<BlockRef>(value));
  if (nb::isinstance<LoopRef>(value)) return ArgValue(nb::cast<LoopRef>(value));
  if (nb::isinstance<ExprRef>(value)) return ArgValue(nb::cast<ExprRef>(value));
  if (PyList_Check(object) || PyTuple_Check(object)) {
    ArgValue::List list;
    for (nb::handle item : value) list.push_back(arg_from_python(item));
    return ArgValue(std::move(list));
  }
  return ArgValue(from_python(value));
}

nb::object arg_to_python(const ArgValue& value) {
  if (const auto* flag = value.as<bool>()) return nb::bool_(*flag);
  if (const auto* number = value.as<int64_t>()) return nb::int_(*number);
  if (const auto* real = value.as<double>()) return nb::float_(*real);
  if (const auto* text = value.as<std::string>()) return nb::cast(*text);
  if (const auto* block = value.as<BlockRef>()) return nb::cast(*block);
  if (const auto* loop = value.as<LoopRef>()) return nb::cast(*loop);
  if (const auto* expr = value.as<ExprRef>()) return nb::cast(*expr);
  if (const auto* node = value.as<ir::ObjectRef>()) return attr_to_python(*node);
  if (const auto* list = value.as<ArgValue::List>()) {
    nb::list items;
    for (const ArgValue& item : *list) items.append(arg_to_python(item));
    return items;
  }
  return nb::none();
}

nb::object get(const Schedule& self, nb::handle handle) {
  if (nb::isinstance<BlockRef>(handle)) return to_python(self.get(nb::cast<BlockRef>(handle)));
  if (nb::isinstance<LoopRef>(handle)) return to_python(self.get(nb::cast<LoopRef>(handle)));
  if (nb::isinstance<ExprRef>(handle)) return nb::int_(self.get(nb::cast<ExprRef>(handle)));
  throw UserError("get: a Python {} is not a handle", Py_TYPE(handle.ptr())->tp_name)
      .help("pass what a step of a schedule returned, e.g. sch.get(sch.get_block(\"C\"))");
}

void forget(Schedule& self, nb::handle handle) {
  if (nb::isinstance<BlockRef>(handle)) return self.forget(nb::cast<BlockRef>(handle));
  if (nb::isinstance<LoopRef>(handle)) return self.forget(nb::cast<LoopRef>(handle));
  if (nb::isinstance<ExprRef>(handle)) return self.forget(nb::cast<ExprRef>(handle));
  throw UserError("remove_rv: a Python {} is not a handle", Py_TYPE(handle.ptr())->tp_name);
}

// A block by handle or name; the look-up is not recorded in the trace.
schedule::NodeId block_of(const Schedule& self, nb::handle block) {
  Schedule looking = self;
  const ArgValue found = nb::isinstance<BlockRef>(block)
                             ? ArgValue(nb::cast<BlockRef>(block))
                             : looking.run_by_name("get_block", {arg_from_python(block)}).value;
  looking.get(*found.as<BlockRef>());  // raises for a stale handle
  return looking.state()[*found.as<BlockRef>()];
}

// A loop (For) or Block of the program and the statements around it, innermost first.
nb::list ways_out(const Schedule& self, nb::handle value) {
  const auto stmt = nb::isinstance<ir::ObjectRef>(value) ? nb::cast<ir::ObjectRef>(value) : ir::ObjectRef();
  const auto* loop = stmt.as<tir::ForNode>();
  const ir::Object* key = loop ? static_cast<const ir::Object*>(loop->loop_var.get()) : stmt.get();
  const schedule::State& state = self.state();
  nb::list found;
  for (const schedule::State::Func& func : state.funcs()) {
    const schedule::NodeId* known = key ? func.index.find(key) : nullptr;
    for (schedule::NodeId id = known ? *known : schedule::kNoNode; id != schedule::kNoNode;
         id = state.node(id).parent) {
      const schedule::TreeNode& node = state.node(id);
      found.append(node.is_loop() ? nb::cast(tir::For(node.loop())) : nb::cast(tir::Block(node.block())));
    }
  }
  if (nb::len(found) == 0)
    throw UserError("get_sref: this Python {} is not a loop or block of the current program",
                    Py_TYPE(value.ptr())->tp_name)
        .help("give a handle, or a For or Block found in sch.mod");
  return found;
}

nb::list dependences(const Schedule& self, nb::handle scope) {
  nb::list found;
  for (const schedule::Dependence& each : schedule::dependences_of(self.state(), block_of(self, scope)))
    found.append(nb::make_tuple(each.from, each.to, each.kind, each.buffer));
  return found;
}

nb::list properties(const Schedule& self, nb::handle block) {
  nb::list found;
  for (const auto& [what, reason] : schedule::properties_of(self.state(), block_of(self, block)))
    found.append(nb::make_tuple(what, reason));
  return found;
}

nb::object run(Schedule& self, const std::string& name, nb::list positional, nb::dict named) {
  std::vector<ArgValue> args;
  for (nb::handle arg : positional) args.push_back(arg_from_python(arg));
  std::vector<Schedule::NamedArg> named_args;
  for (auto [key, value] : named) named_args.emplace_back(nb::cast<std::string>(key), arg_from_python(value));
  return arg_to_python(self.run_by_name(name, std::move(args), named_args).value);
}

// [(name, doc, returns, [(argument, doc, type, default, is required, is variadic)])]
nb::list primitive_table() {
  nb::list table;
  for (const schedule::PrimitiveInfo* info : schedule::all_primitives()) {
    nb::list args;
    for (const schedule::ArgInfo& arg : info->args())
      args.append(nb::make_tuple(std::string(arg.name), std::string(arg.doc), std::string(arg.type),
                                 arg_to_python(arg.default_value), arg.is_required, arg.is_variadic));
    table.append(
        nb::make_tuple(std::string(info->name), std::string(info->doc), std::string(info->returns), args));
  }
  return table;
}

template <class Handle>
void bind_handle(nb::module_& m, const char* name, const char* doc) {
  nb::class_<Handle>(m, name, doc)
      .def("__repr__", [](const Handle& self) { return schedule::handle_name(self); })
      .def("__eq__", [](const Handle& a, const Handle& b) { return a == b; })
      .def("__hash__", [](const Handle& self) { return self.id; });
}

// ([(function, sizes)], number of samples left out, number of loop iterations)
nb::tuple verified(const Schedule& self, int64_t samples, uint64_t seed, int64_t max_steps) {
  const schedule::Compared compared = [&] {
    const Unlocked unlocked;
    return self.verify({.samples = samples, .seed = seed, .max_steps = max_steps});
  }();
  nb::list taken;
  for (const schedule::Compared::Sample& each : compared.samples)
    taken.append(nb::make_tuple(each.function, each.sizes));
  return nb::make_tuple(taken, compared.num_left_out, compared.num_steps);
}

}  // namespace

void bind_schedule(nb::module_& m) {
  bind_handle<BlockRef>(m, "BlockHandle", "A block of a schedule.");
  bind_handle<LoopRef>(m, "LoopHandle", "A loop of a schedule.");
  bind_handle<ExprRef>(m, "ExprHandle", "An integer that a schedule has sampled.");
  nb::class_<schedule::Trace>(m, "Trace", nb::dynamic_attr(), "The steps of a schedule.")
      .def("__str__", &schedule::Trace::str)
      .def("__len__", [](const schedule::Trace& self) { return self.steps.size(); })
      .def("save_json", &schedule::Trace::save_json)
      .def("_simplified", &schedule::Trace::simplified)
      .def("without_postproc", &schedule::Trace::without_postproc)
      .def("_assign", [](schedule::Trace& self, const schedule::Trace& other) { self = other; })
      .def("apply_to", [](const schedule::Trace& self, Schedule& target) { self.apply_to(target); })
      .def_static("load_json", [](const std::string& text) { return schedule::Trace::load_json(text); });
  nb::class_<Schedule>(m, "Schedule")
      .def("__init__",
           [](Schedule* self, const ir::IRModule& module, uint64_t seed, bool verify_steps,
              bool verify_numbers, int errors) {
             new (self) Schedule(module, {.seed = seed,
                                          .verify_steps = verify_steps,
                                          .verify_numbers = verify_numbers,
                                          .errors = static_cast<schedule::ErrorDetail>(errors)});
           })
      .def("verify", &verified)
      .def("copy", &Schedule::copy)
      .def("fork", &Schedule::fork)
      .def("fork_seed", &Schedule::fork_seed)
      .def("set_seed", &Schedule::set_seed)
      .def("work_on", &Schedule::work_on)
      .def("working_on", [](const Schedule& self) { return self.state().working_on.value_or(""); })
      .def("tree_text", [](const Schedule& self) { return schedule::tree_text(self.state()); })
      .def("dependences", &dependences)
      .def("properties", &properties)
      .def("module", &Schedule::module)
      .def("run", &run)
      .def("trace", [](const Schedule& self) { return self.trace(); })
      .def("get", &get, nb::arg("handle").none())
      .def("forget", &forget, nb::arg("handle").none())
      .def("ways_out", &ways_out, nb::arg("stmt").none());
  m.def("primitive_table", &primitive_table);
  m.def("register_tensor_intrin",
        [](const std::string& name, const tir::PrimFunc& desc, const tir::PrimFunc& impl, bool may_override) {
          schedule::register_tensor_intrin(name, {desc, impl}, may_override);
        });
  m.def("get_tensor_intrin", [](const std::string& name) {
    const schedule::TensorIntrin intrin = schedule::get_tensor_intrin(name);
    return nb::make_tuple(nb::cast(intrin.desc), nb::cast(intrin.impl));
  });
}

}  // namespace tilewright::python
