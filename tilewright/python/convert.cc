#include "tilewright/python/convert.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <unordered_map>

#include "tilewright/ir/expr.h"
#include "tilewright/python/runtime_values.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/arithmetic.h"
#include "tilewright/tir/builder.h"

namespace tilewright::python {
namespace {

// The living Python objects by node, so that a node is always the same Python object.  Guarded by the GIL.
std::unordered_map<const ir::Object*, PyObject*>& living() {
  static auto* map = new std::unordered_map<const ir::Object*, PyObject*>;  // outlives all Python objects
  return *map;
}

// The Python class of each node kind; register_node_class adds to it.
nb::object* class_table() {
  static auto* table = new nb::object[static_cast<size_t>(ir::Kind::kCount)];
  return table;
}

}  // namespace

PyNode::~PyNode() { living().erase(ref.get()); }

void register_node_class(const std::string& kind_name, nb::object node_class) {
  const ir::NodeInfo* info = ir::find_node_info(kind_name);
  if (!info) throw InternalError("there is no node kind {}", kind_name);
  class_table()[static_cast<size_t>(info->kind)] = std::move(node_class);
}

nb::object to_python(const ir::ObjectRef& node) {
  if (!node) return nb::none();
  auto known = living().find(node.get());
  if (known != living().end()) return nb::borrow(known->second);
  const nb::object& node_class = class_table()[static_cast<size_t>(node->kind)];
  if (!node_class.is_valid()) throw InternalError("no Python class for {}", ir::info_of(*node)->name);
  nb::object instance = nb::inst_alloc(node_class);
  new (nb::inst_ptr<PyNode>(instance)) PyNode(node);
  nb::inst_mark_ready(instance);
  living()[node.get()] = instance.ptr();
  return instance;
}

nb::object attr_to_python(const ir::ObjectRef& value) {
  if (const auto* number = value.as<ir::IntImmNode>())
    return number->dtype.is_bool() ? nb::object(nb::bool_(number->value != 0))
                                   : nb::object(nb::int_(number->value));
  if (const auto* real = value.as<ir::FloatImmNode>()) return nb::float_(real->value);
  if (const auto* text = value.as<ir::StringImmNode>())
    return nb::str(text->value.c_str(), text->value.size());
  if (const auto* list = value.as<ir::ArrayNode>()) {
    nb::list items;
    for (const ir::ObjectRef& item : list->items) items.append(attr_to_python(item));
    return items;
  }
  if (const auto* dict = value.as<ir::DictNode>()) return attrs_to_python(dict->items);
  return to_python(value);
}

nb::dict attrs_to_python(const ir::AttrMap& attrs) {
  nb::dict result;
  for (const auto& [key, value] : attrs) result[nb::str(key.c_str())] = attr_to_python(value);
  return result;
}

bool is_node_like(nb::handle value) {
  return value.is_none() || nb::isinstance<PyNode>(value) || PyBool_Check(value.ptr()) ||
         PyLong_Check(value.ptr()) || PyFloat_Check(value.ptr()) || PyUnicode_Check(value.ptr()) ||
         PyList_Check(value.ptr()) || PyTuple_Check(value.ptr()) || PyDict_Check(value.ptr()) ||
         nb::hasattr(value, "__tilewright_node__") || PyIndex_Check(value.ptr()) ||
         (nb::hasattr(value, "dtype") && nb::hasattr(value, "item"));
}

nb::object number_of_numpy(nb::handle value) {
  if (PyType_Check(value.ptr()) || !nb::hasattr(value, "item") || !nb::hasattr(value, "dtype")) return {};
  // only arrays without dimensions are numbers
  if (!nb::hasattr(value, "shape") || nb::len(nb::object(value.attr("shape"))) != 0) return {};
  // item() would return a long double, or a number type of ml_dtypes, unconverted
  const nb::object known = value.attr("dtype");
  auto dtype = nb::cast<std::string>(nb::str(nb::handle(known)));
  dtype.erase(0, dtype.rfind('.') + 1);  // torch.float32
  PyObject* number = nullptr;
  if (dtype.starts_with("bool"))
    number = PyBool_FromLong(PyObject_IsTrue(value.ptr()));
  else if (dtype.starts_with("int") || dtype.starts_with("uint"))
    number = PyNumber_Long(value.ptr());
  else if (dtype.starts_with("float") || dtype.starts_with("bfloat"))
    number = PyNumber_Float(value.ptr());
  if (!number) PyErr_Clear();
  return nb::steal(number);
}

std::string integer_text(nb::handle value) {
  const auto bits = nb::cast<int64_t>(value.attr("bit_length")());
  return bits > 128 ? fmt::format("an integer of {} bits", bits) : nb::str(value).c_str();
}

ir::ObjectRef from_python(nb::handle value, const NumberDTypes& dtypes) {
  if (value.is_none()) return nullptr;
  if (nb::isinstance<PyNode>(value)) return nb::cast<PyNode&>(value).ref;
  if (nb::hasattr(value, "__tilewright_node__"))
    return from_python(value.attr("__tilewright_node__")(), dtypes);
  PyObject* object = value.ptr();
  if (PyBool_Check(object)) return ir::IntImmNode::make(kBoolType, static_cast<int64_t>(object == Py_True));
  if (PyLong_Check(object)) {
    int overflow = 0;
    const int64_t number = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow) throw UserError("{} does not fit in 64 bits", integer_text(value));
    const bool fits = number >= INT32_MIN && number <= INT32_MAX;
    return ir::IntImmNode::make(fits ? dtypes.ints : kInt64, number);
  }
  if (PyFloat_Check(object)) {
    const double number = PyFloat_AsDouble(object);
    return tir::float_imm(number,
                          tir::overflows(number, dtypes.floats) ? DataType::float_(64) : dtypes.floats);
  }
  if (PyUnicode_Check(object)) return ir::StringImmNode::make(nb::cast<std::string>(value));
  if (PyDict_Check(object)) return ir::DictNode::make(attrs_from_python(value));
  if (PyList_Check(object) || PyTuple_Check(object)) {
    std::vector<ir::ObjectRef> items;
    for (nb::handle item : value) items.push_back(from_python(item, dtypes));
    return ir::ArrayNode::make(std::move(items));
  }
  if (const nb::object number = number_of_numpy(value); number.is_valid()) return from_python(number, dtypes);
  // arrays implement __index__, too
  if (PyObject* number = PyIndex_Check(object) ? PyNumber_Index(object) : nullptr)
    return from_python(nb::steal(number), dtypes);
  PyErr_Clear();
  throw UserError("a Python {} cannot be used in a program", Py_TYPE(object)->tp_name);
}

ir::AttrMap attrs_from_python(nb::handle dict) {
  ir::AttrMap attrs;
  if (dict.is_none()) return attrs;
  if (!PyDict_Check(dict.ptr()))
    throw UserError("attributes must be a dict, but are a {}", Py_TYPE(dict.ptr())->tp_name);
  for (auto [key, value] : nb::borrow<nb::dict>(dict)) {
    if (!PyUnicode_Check(key.ptr()))
      throw UserError("attribute names must be strings, but one is a Python {}", Py_TYPE(key.ptr())->tp_name);
    const auto name = nb::cast<std::string>(key);
    try {
      attrs.set(name, from_python(value, kAttributeDTypes));
    } catch (Error& error) {
      error.add_prefix(name);
      throw;
    }
  }
  return attrs;
}

nb::object field_to_python(const ir::FieldInfo& field, const ir::FieldValue& value) {
  if (field.type == ir::FieldType::kEnum) {
    const std::string_view name = field.enum_names[static_cast<size_t>(std::get<int64_t>(value))];
    return nb::str(name.data(), name.size());
  }
  switch (field.type) {
    case ir::FieldType::kInt: return nb::int_(std::get<int64_t>(value));
    case ir::FieldType::kBool: return nb::bool_(std::get<bool>(value));
    case ir::FieldType::kFloat: return nb::float_(std::get<double>(value));
    case ir::FieldType::kString: return nb::cast(std::get<std::string>(value));
    case ir::FieldType::kDType: return nb::cast(std::get<DataType>(value));
    case ir::FieldType::kNode: return to_python(std::get<ir::ObjectRef>(value));
    case ir::FieldType::kNodeList: {
      nb::list items;
      for (const ir::ObjectRef& item : std::get<std::vector<ir::ObjectRef>>(value))
        items.append(to_python(item));
      return items;
    }
    case ir::FieldType::kIntList: return nb::cast(std::get<std::vector<int64_t>>(value));
    case ir::FieldType::kStringList: return nb::cast(std::get<std::vector<std::string>>(value));
    case ir::FieldType::kAttrs: return attrs_to_python(std::get<ir::AttrMap>(value));
    case ir::FieldType::kTensor: return tensor_to_python(std::get<runtime::Tensor>(value));
    default: return span_to_python(std::get<Span>(value));
  }
}

namespace {
int64_t enum_from_python(const ir::FieldInfo& field, nb::handle value) {
  const auto name = nb::cast<std::string>(value);
  for (size_t n = 0; n < field.enum_names.size(); ++n) {
    if (field.enum_names[n] == name) return static_cast<int64_t>(n);
  }
  throw UserError("{} cannot be \"{}\"", field.name, name);
}

// Lists whose items are used without a check for None; code that reads other lists reports None itself.
constexpr std::string_view kHoldNoNone[] = {"alloc_buffers", "args",   "axis",  "bindings", "iter_vars",
                                            "match_buffers", "params", "reads", "region",   "writes"};

std::vector<ir::ObjectRef> nodes_from_python(const ir::FieldInfo& field, nb::handle value) {
  std::vector<ir::ObjectRef> items;
  for (nb::handle item : value) {
    items.push_back(from_python(item));
    if (!items.back() &&
        std::find(std::begin(kHoldNoNone), std::end(kHoldNoNone), field.name) != std::end(kHoldNoNone))
      throw UserError("argument {} ({}) holds None at {}", field.name, field.doc, items.size() - 1);
  }
  return items;
}
}  // namespace

ir::FieldValue field_from_python(const ir::FieldInfo& field, nb::handle value) {
  try {
    switch (field.type) {
      case ir::FieldType::kEnum: return enum_from_python(field, value);
      case ir::FieldType::kInt: return nb::cast<int64_t>(value);
      case ir::FieldType::kBool: return nb::cast<bool>(value);
      case ir::FieldType::kFloat: return nb::cast<double>(value);
      case ir::FieldType::kString: return nb::cast<std::string>(value);
      case ir::FieldType::kDType: return nb::cast<DataType>(value);
      case ir::FieldType::kNode: return from_python(value);
      case ir::FieldType::kNodeList: return nodes_from_python(field, value);
      case ir::FieldType::kIntList: return nb::cast<std::vector<int64_t>>(value);
      case ir::FieldType::kStringList: return nb::cast<std::vector<std::string>>(value);
      case ir::FieldType::kAttrs: return attrs_from_python(value);
      case ir::FieldType::kTensor: return tensor_from_python(value);
      default: return Span{};
    }
  } catch (const nb::cast_error&) {
    throw UserError("argument {} ({}) cannot be a Python {}", field.name, field.doc,
                    Py_TYPE(value.ptr())->tp_name);
  }
}

nb::object span_to_python(const Span& span) {
  if (!span) return nb::none();
  nb::dict result;
  result["source_name"] = nb::cast(span.source->name);
  result["line"] = span.line;
  result["column"] = span.column + span.source->first_column + 1;
  result["end_line"] = span.end_line;
  result["end_column"] = span.end_column + span.source->first_column + 1;
  return result;
}

}  // namespace tilewright::python
