// Bindings for the TVMScript parser and printer; a Python callable resolves captured names.
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
  if (nb::isinstance<runtime::Device>(value)) return Value(nb::cast<runtime::Device>(value).str());
  return Value(from_python(value));
}

nb::object python_value(const Value& value) {
  if (const auto* node = value.get<ir::ObjectRef>()) return to_python(*node);
  if (const auto* flag = value.get<bool>()) return nb::bool_(*flag);
  if (const auto* number = value.get<Value::PyInt>()) return nb::int_(static_cast<int64_t>(*number));
  if (const auto* real = value.get<double>()) return nb::float_(*real);
  if (const auto* text = value.get<std::string>()) return nb::cast(*text);
  if (const auto* dtype = value.get<DataType>()) return nb::cast(*dtype);
  if (const auto* pointer = value.get<script::AllocatedPointer>()) return to_python(pointer->buffer);
  if (const auto* list = value.get<script::Sequence>()) {
    nb::list items;
    for (const Value& item : list->items) items.append(python_value(item));
    return list->is_tuple ? nb::object(nb::tuple(items)) : items;
  }
  if (const auto* map = value.get<script::Mapping>()) {
    nb::dict items;
    for (const auto& [key, item] : map->items) items[python_value(key)] = python_value(item);
    return items;
  }
  return nb::none();
}

// True if `error` comes from Python itself and says nothing about the program, but is not an interrupt.
bool is_of_python(const nb::python_error& error) {
  return error.matches(PyExc_Exception) &&
         !error.matches(nb::module_::import_("tilewright.errors").attr("Error"));
}

// str(value), or "" if that fails.
std::string text_of(nb::handle value) {
  nb::object text = nb::steal(PyObject_Str(value.ptr()));
  if (!text.is_valid()) PyErr_Clear();
  return text.is_valid() ? nb::cast<std::string>(text) : "";
}

// Wraps a callable (expression text, {name: value of the program's own names}) as the parser's resolver.
// NameError: unknown.
script::Resolver make_resolver(const nb::object& resolve) {
  return
      [resolve](std::string_view text, const Span& span, const script::Scope& scope) -> std::optional<Value> {
        nb::dict names;
        for (std::string_view name : scope.names()) {
          if (const Value* value = scope.find(name))
            names[nb::str(name.data(), name.size())] = python_value(*value);
        }
        try {
          return script_value(resolve(nb::str(text.data(), text.size()), names));
        } catch (nb::python_error& error) {
          if (error.matches(PyExc_NameError)) return std::nullopt;
          if (!is_of_python(error)) throw;
          throw UserError(span, "Python raises {}: {}", nb::cast<std::string>(error.type().attr("__name__")),
                          text_of(error.value()));
        }
      };
}

// Wraps a callable (name) -> tilewright.script.macros.Macro or None as the parser's finder of macros.
script::MacroFinder make_macro_finder(const nb::object& find) {
  return [find](std::string_view name) -> Ref<script::Macro> {
    nb::object found = find(nb::str(name.data(), name.size()));
    if (found.is_none()) return nullptr;
    auto* macro = new script::Macro;
    Ref<script::Macro> result(macro);
    macro->source = Ref<Source>(new Source(
        nb::cast<std::string>(found.attr("filename")), nb::cast<std::string>(found.attr("text")),
        nb::cast<uint32_t>(found.attr("first_line")), nb::cast<uint32_t>(found.attr("first_column"))));
    macro->name = nb::cast<std::string>(found.attr("__name__"));
    macro->is_hygienic = nb::cast<bool>(found.attr("hygienic"));
    macro->resolver = make_resolver(found.attr("resolve"));
    macro->find_macro = make_macro_finder(found.attr("find_macro"));
    macro->aliases = nb::cast<std::vector<std::pair<std::string, std::string>>>(found.attr("aliases"));
    return result;
  };
}

ir::ObjectRef parse(const std::string& text, const std::string& name, uint32_t first_line,
                    uint32_t first_column, const nb::object& resolve, const nb::object& find_macro,
                    std::vector<std::pair<std::string, std::string>> aliases, bool check_well_formed) {
  script::ParseOptions options;
  if (!resolve.is_none()) options.resolver = make_resolver(resolve);
  if (!find_macro.is_none()) options.find_macro = make_macro_finder(find_macro);
  options.aliases = std::move(aliases);
  options.check_well_formed = check_well_formed;
  return script::parse(Ref<Source>(new Source(name, text, first_line, first_column)), options);
}

// `options`: fields of PrintOptions by name; missing ones keep their defaults
std::string print_script(const ir::ObjectRef& node, const nb::dict& options) {
  script::PrintOptions chosen;
  const auto take = [&]<class T>(const char* name, T& field) {
    if (options.contains(name)) field = nb::cast<T>(options[name]);
  };
  take("dialect", chosen.dialect);
  take("show_meta", chosen.show_meta);
  take("show_header", chosen.show_header);
  take("indent_spaces", chosen.indent_spaces);
  take("line_width", chosen.line_width);
  take("ir_alias", chosen.ir_alias);
  take("tir_alias", chosen.tir_alias);
  take("relax_alias", chosen.relax_alias);
  take("module_name", chosen.module_name);
  take("package", chosen.package);
  take("underline", chosen.underline);
  return script::print(node, chosen);
}

}  // namespace

void bind_script(nb::module_& m) {
  m.def("parse", &parse, nb::arg("text"), nb::arg("name"), nb::arg("first_line"), nb::arg("first_column"),
        nb::arg("resolve").none(), nb::arg("find_macro").none(), nb::arg("aliases"),
        nb::arg("check_well_formed"));
  m.def("print_script", &print_script);
}

}  // namespace tilewright::python
