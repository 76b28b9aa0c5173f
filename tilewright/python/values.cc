#include "tilewright/python/values.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <pthread.h>

#include <atomic>
#include <chrono>

#include "tilewright/driver/load.h"
#include "tilewright/python/convert.h"
#include "tilewright/python/locks.h"
#include "tilewright/python/runtime_values.h"
#include "tilewright/runtime/interrupt.h"
#include "tilewright/support/error.h"

namespace tilewright::python {
namespace {

using runtime::Value;
using runtime::ValueKind;

// A Python callable as a packed function.  The object is released with the interpreter lock held.
class PythonFunction final : public runtime::FunctionObject {
 public:
  PythonFunction(std::string name, nb::object body)
      : FunctionObject(std::move(name)), body_(std::move(body)) {}
  ~PythonFunction() override {
    const Locked lock;
    body_.reset();
  }
  Value call(runtime::Args args) const override {
    return locked([&] {
      nb::list converted;
      for (const Value& arg : args) converted.append(value_to_python(arg));
      return value_from_python(body_(*nb::tuple(converted)));
    });
  }
  const nb::object& body() const { return body_; }

 private:
  nb::object body_;
};

int64_t int_of(PyObject* number) {
  int overflow = 0;
  const int64_t value = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (overflow) throw UserError("{} does not fit in 64 bits", integer_text(number));
  return value;
}

std::vector<Value> values_of(nb::handle sequence) {
  std::vector<Value> values;
  for (nb::handle item : sequence) values.push_back(value_from_python(item));
  return values;
}

// True for tilewright.runtime.Shape, a tuple of ints that is passed as a shape.
bool is_shape(PyObject* object) {
  return PyTuple_Check(object) && !PyTuple_CheckExact(object) &&
         nb::hasattr(nb::handle(object), "__tilewright_shape__");
}

Value shape_from_python(nb::handle sequence) {
  runtime::Shape shape;
  for (nb::handle item : sequence) shape.push_back(int_of(nb::steal(PyNumber_Index(item.ptr())).ptr()));
  return Value::shape(std::move(shape));
}

}  // namespace

runtime::Function function_from_callable(const std::string& name, nb::object body) {
  if (nb::isinstance<runtime::Function>(body)) return nb::cast<runtime::Function>(body);
  if (!PyCallable_Check(body.ptr()))
    throw UserError("function \"{}\": a Python {} cannot be called", name, Py_TYPE(body.ptr())->tp_name);
  return runtime::Function(Ref<runtime::FunctionObject>(new PythonFunction(name, std::move(body))));
}

Value value_from_python(nb::handle value) {
  PyObject* object = value.ptr();
  if (nb::isinstance<runtime::Tensor>(value)) return Value(nb::cast<runtime::Tensor&>(value));
  if (value.is_none()) return {};
  if (PyBool_Check(object)) return Value(object == Py_True);
  if (PyLong_Check(object)) return Value(int_of(object));
  if (PyFloat_Check(object)) return Value(PyFloat_AsDouble(object));
  if (PyUnicode_Check(object)) return Value(nb::cast<std::string>(value));
  if (PyBytes_Check(object))
    return Value::bytes(std::string(PyBytes_AsString(object), static_cast<size_t>(PyBytes_Size(object))));
  if (is_shape(object)) return shape_from_python(value);
  if (PyTuple_Check(object) || PyList_Check(object)) return Value::tuple(values_of(value));
  if (lends_elements(value)) return Value(tensor_of_lender(value));
  if (nb::isinstance<runtime::Function>(value)) return Value(nb::cast<runtime::Function&>(value));
  if (nb::isinstance<runtime::Module>(value)) return Value(nb::cast<runtime::Module&>(value));
  if (nb::isinstance<runtime::Device>(value)) return Value(nb::cast<runtime::Device&>(value));
  if (PyCallable_Check(object)) return Value(function_from_callable("callable", nb::borrow(value)));
  if (const nb::object number = number_of_numpy(value); number.is_valid()) return value_from_python(number);
  if (PyObject* number = PyIndex_Check(object) ? PyNumber_Index(object) : nullptr)
    return Value(int_of(nb::steal(number).ptr()));
  PyErr_Clear();
  throw UserError("a Python {} cannot be passed to a compiled function", Py_TYPE(object)->tp_name)
      .help("pass tensors, numpy arrays, numbers, strings or tuples of them");
}

namespace {
runtime::Function function_of(const runtime::Module& self, nb::handle name) {
  if (!PyUnicode_Check(name.ptr()))
    throw UserError("a function is looked up by a Python {}, expected its name", Py_TYPE(name.ptr())->tp_name)
        .help("e.g. module[\"main\"]");
  return self.get_function(nb::cast<std::string>(name));
}
}  // namespace

nb::object value_to_python(const Value& value) {
  switch (value.kind()) {
    case ValueKind::kNone: return nb::none();
    case ValueKind::kInt: return nb::int_(value.int_payload());
    case ValueKind::kBool: return nb::bool_(value.int_payload() != 0);
    case ValueKind::kFloat: return nb::float_(value.float_payload());
    case ValueKind::kPointer: return nb::steal(PyLong_FromVoidPtr(value.as_pointer()));
    case ValueKind::kDtype: return nb::cast(value.as_dtype());
    case ValueKind::kDevice: return nb::cast(value.as_device());
    case ValueKind::kString: return nb::cast(value.as_string());
    case ValueKind::kBytes: return nb::bytes(value.as_bytes().data(), value.as_bytes().size());
    case ValueKind::kShape:
      return nb::module_::import_("tilewright.runtime")
          .attr("Shape")(nb::cast(std::vector<int64_t>(value.as_shape())));
    case ValueKind::kTensor: return nb::cast(value.as_tensor());
    case ValueKind::kTuple: {
      nb::list items;
      for (const Value& item : value.as_tuple()) items.append(value_to_python(item));
      return nb::tuple(items);
    }
    case ValueKind::kFunction: {
      const runtime::Function function = value.as_function();
      if (const auto* python = dynamic_cast<const PythonFunction*>(function.object())) return python->body();
      return nb::cast(function);
    }
    case ValueKind::kModule: return nb::cast(value.as_module());
    case ValueKind::kObject: break;
  }
  throw Unsupported("a result of kind {} cannot be converted to Python", value.type_str());
}

nb::object call_function(const runtime::Function& function, const nb::args& args) {
  constexpr size_t kInline = 16;
  Value inline_values[kInline];
  std::vector<Value> more;
  Value* values = inline_values;
  if (args.size() > kInline) {
    more.resize(args.size());
    values = more.data();
  }
  size_t position = 0;
  try {
    for (; position < args.size(); ++position) values[position] = value_from_python(args[position]);
  } catch (Error& error) {
    error.add_prefix(fmt::format("{}: argument {}", function.name(), position + 1));
    throw;
  }
  Value result;
  {
    const Unlocked unlocked;
    result = function.call({values, args.size()});
  }
  return value_to_python(result);
}

namespace {

// The only thread in which Python runs signal handlers.
std::atomic<unsigned long> main_thread{0};

// Lets Ctrl-C stop a model between two kernels.  Checking costs the interpreter lock, so it happens every 20
// ms; Python itself checks when a call returns.
void check_signals() {
  using Clock = std::chrono::steady_clock;
  if (PyThread_get_thread_ident() != main_thread.load(std::memory_order_relaxed)) return;
  static Clock::time_point last;
  const Clock::time_point now = Clock::now();
  if (now - last < std::chrono::milliseconds(20)) return;
  last = now;
  locked([] {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  });
}

void watch_signals() {
  main_thread =
      nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
  // the main thread of a child is the thread that called fork
  pthread_atfork(nullptr, nullptr, [] { main_thread = PyThread_get_thread_ident(); });
  runtime::set_interrupt_check(check_signals);
}

}  // namespace

void bind_functions(nb::module_& m) {
  watch_signals();
  count_threads_of_children();
  m.def("prepare_exit", &prepare_exit);
  nb::class_<runtime::Function>(
      m, "Function",
      "A function of compiled code or of the registry; call it with tensors, numbers and strings.")
      .def("__call__", [](const runtime::Function& self, nb::args args) { return call_function(self, args); })
      .def("__call__",
           [](const runtime::Function& self, nb::args, nb::kwargs named) {
             std::string names;
             for (auto [name, value] : named)
               names += (names.empty() ? "" : ", ") + nb::cast<std::string>(name);
             const std::string signature = self.object()->params.signature(self.name());
             UserError error("{}: {} given by name, but arguments of compiled functions have only positions",
                             self.name(), names);
             if (!signature.empty()) error.help("the function is {}", signature);
             throw error;
           })
      .def_prop_ro("name", &runtime::Function::name)
      .def("__repr__", [](const runtime::Function& self) {
        const std::string signature = self.object()->params.signature(self.name());
        return fmt::format("<Function {}>", signature.empty() ? self.name() : signature);
      });
  m.def("convert_function", &function_from_callable);
  m.def("register_func", [](const std::string& name, nb::object body, bool override_) {
    runtime::register_function(name, function_from_callable(name, std::move(body)), override_);
  });
  m.def("get_global_func",
        [](const std::string& name) { return value_to_python(Value(runtime::get_function(name))); });
  m.def("find_global_func",
        [](const std::string& name) { return value_to_python(Value(runtime::find_function(name))); });
  m.def("remove_global_func", [](const std::string& name) { return runtime::remove_function(name); });
  m.def("list_global_func_names", &runtime::list_functions);
  nb::class_<runtime::Module>(m, "Module", nb::dynamic_attr(),
                              "Functions by name, of a library or of the just-in-time compiler.")
      .def("__getitem__", &function_of, nb::arg("name").none())
      .def("get_function", &function_of, nb::arg("name").none(),
           "The function `name`, as module[name]; raises UserError with near names if there is none.")
      .def(
          "find_function",
          [](const runtime::Module& self, const std::string& name) {
            return value_to_python(Value(self.find_function(name)));
          },
          "The function `name`, or None.")
      .def_prop_ro("function_names", &runtime::Module::list_functions,
                   "The functions, without those of imports.")
      .def_prop_ro("imports", &runtime::Module::imports,
                   "The modules that this one looks functions up in, too.")
      .def_prop_ro("name", &runtime::Module::name, "The path of its file, or what messages call it.")
      .def_prop_ro("kind", &runtime::Module::kind, "What the module is made of: \"jit\", \"library\", ...")
      .def("import_module", &runtime::Module::import_module,
           "Lets the module look functions up in another one, too.");
  m.def("load_module", &driver::load);
}

}  // namespace tilewright::python
