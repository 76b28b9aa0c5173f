// The TVMScript parser and printer in Python; captured names are resolved by a Python callable.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "tilewright/python/bindings.h"
#include "tilewright/python/convert.h"
#include "tilewright/python/runtime_values.h"
#include "tilewright/script/parse.h"
#include "tilewright/script/print.h"
#include "tilewright/support/error.h"

namespace tilewright::python {
namespace {

using script::Value;

Value script_value(nb::handle value) {
  PyObject* object = value.ptr();
  if (value.is_none()) return {};
  if (PyBool_Check(object)) return Value(object == Py_True);
  if (PyLong_Check(object)) return Value(nb::cast<int64_t>(value));
  if (PyFloat_Check(object)) return Value(PyFloat_AsDouble(object));
  if (PyUnicode_Check(object)) return Value(nb::cast<std::string>(value));
  if (PyTuple_Check(object) || PyList_Check(object)) {
    script::Sequence items;
    items.is_tuple = PyTuple_Check(object);
    for (nb::handle item : value) items.items.push_back(script_value(item));
    return items;
  }
  if (PyDict_Check(object)) {
    script::Mapping map;
    for (auto [key, item] : nb::borrow<nb::dict>(value))
      map.items.emplace_back(script_value(key), script_value(item));
    return map;
  }
  return Value(from_python(value));
}

nb::object python_value(const Value& value) {
  if (const auto* node = value.get<ir::ObjectRef>()) return to_python(*node);
  if (const auto* flag = value.get<bool>()) return nb::bool_(*flag);
  if (const auto* number = value.get<Value::PyInt>()) return nb::int_(static_cast<int64_t>(*number));
  if (const auto* real = value.get<double>()) return nb::float_(*real);
  if (const auto* text = value.get<std::string>()) return nb::cast(*text);
  if (const auto* dtype = value.get<DataType>()) return nb::cast(*dtype);
  return nb::none();
}

// A callable (expression text, {name: value of the program's own names}) as the parser's resolver. NameError:
// unknown.
script::Resolver make_resolver(const nb::object& resolve) {
  return [&resolve](std::string_view text, const Span&, const script::Scope& scope) -> std::optional<Value> {
    nb::dict names;
    for (std::string_view name : scope.names()) {
      if (const Value* value = scope.find(name))
        names[nb::str(name.data(), name.size())] = python_value(*value);
    }
    try {
      return script_value(resolve(nb::str(text.data(), text.size()), names));
    } catch (nb::python_error& error) {
      if (error.matches(PyExc_NameError)) return std::nullopt;
      throw;
    }
  };
}

ir::ObjectRef parse(const std::string& text, const std::string& name, uint32_t first_line,
                    uint32_t first_column, const nb::object& resolve,
                    std::vector<std::pair<std::string, std::string>> aliases, bool check_well_formed) {
  script::ParseOptions options;
  if (!resolve.is_none()) options.resolver = make_resolver(resolve);
  options.aliases = std::move(aliases);
  options.check_well_formed = check_well_formed;
  return script::parse(Ref<Source>(new Source(name, text, first_line, first_column)), options);
}

std::string print_script(const ir::ObjectRef& node, const std::string& dialect, bool show_meta,
                         std::vector<ir::ObjectRef> underline, int64_t width) {
  script::PrintOptions options;
  options.dialect = dialect;
  options.show_meta = show_meta;
  options.underline = std::move(underline);
  options.line_width = width;
  return script::print(node, options);
}

}  // namespace

void bind_script(nb::module_& m) {
  m.def("parse", &parse, nb::arg("text"), nb::arg("name"), nb::arg("first_line"), nb::arg("first_column"),
        nb::arg("resolve").none(), nb::arg("aliases"), nb::arg("check_well_formed"));
  m.def("print_script", &print_script);
}

}  // namespace tilewright::python
