// Conversion between Python and IR: every Ref<T> is converted to the Python object of its node; plain Python
// values become literals.
#pragma once
#include <nanobind/nanobind.h>

#include "tilewright/ir/field.h"

namespace tilewright::python {
namespace nb = nanobind;

/// The contents of a Python node object.
struct PyNode {
  explicit PyNode(ir::ObjectRef ref) : ref(std::move(ref)) {}
  PyNode(const PyNode&) = delete;
  PyNode& operator=(const PyNode&) = delete;
  ~PyNode();  // removes the object from the living ones
  ir::ObjectRef ref;
};

/// The Python object of `node`: the living one, else a new object of the class registered for its kind.
nb::object to_python(const ir::ObjectRef& node);
/// An attribute as a Python value: IntImm, FloatImm, StringImm, Array and Dict become int/bool, float, str,
/// list, dict.
nb::object attr_to_python(const ir::ObjectRef& value);

/// The dtypes of numbers without a dtype of their own.
struct NumberDTypes {
  DataType ints = kInt32, floats = kFloat32;
};
constexpr NumberDTypes kAttributeDTypes{kInt64, DataType::float_(64)};  // as scripts are parsed

/// The node for a Python value: a node itself, None (null), bool, int, float, str, list/tuple (Array), dict
/// (Dict), numpy scalars.  Numbers become IntImm and FloatImm of `dtypes`.  Raises UserError for anything
/// else.
ir::ObjectRef from_python(nb::handle value, const NumberDTypes& dtypes = {});
/// The bool, int or float in a scalar of numpy, ml_dtypes and similar libraries; invalid for anything else.
nb::object number_of_numpy(nb::handle value);
/// The Python integer `value` for messages: its digits, or its number of bits if there are many.
std::string integer_text(nb::handle value);
/// True if from_python accepts `value`.
bool is_node_like(nb::handle value);

nb::object field_to_python(const ir::FieldInfo& field, const ir::FieldValue& value);
ir::FieldValue field_from_python(const ir::FieldInfo& field, nb::handle value);
ir::AttrMap attrs_from_python(nb::handle dict);
nb::dict attrs_to_python(const ir::AttrMap& attrs);

}  // namespace tilewright::python

namespace nanobind::detail {

/// Ref<T> <-> the Python object of the node.  None is rejected: functions that accept null take an
/// nb::handle.
template <class T>
struct type_caster<tilewright::Ref<T>> {
  using Value = tilewright::Ref<T>;
  static constexpr auto Name = const_name("Object");
  template <class>
  using Cast = Value;
  template <class>
  static constexpr bool can_cast() {
    return true;
  }
  Value value;

  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    try {
      if (source.is_none() || !tilewright::python::is_node_like(source)) return false;
      tilewright::ir::ObjectRef node = tilewright::python::from_python(source);
      if constexpr (!std::is_same_v<T, tilewright::ir::Object>) {
        if (node && !T::classof(*node)) return false;
      }
      value = Value(static_cast<const T*>(node.get()));
      return true;
    } catch (...) {
      return false;
    }
  }
  static handle from_cpp(const Value& node, rv_policy, cleanup_list*) noexcept {
    try {
      return tilewright::python::to_python(tilewright::ir::ObjectRef(node)).release();
    } catch (python_error& error) {
      error.restore();
      return {};
    } catch (const std::exception& error) {
      PyErr_SetString(PyExc_RuntimeError, error.what());
      return {};
    }
  }
  operator Value() { return value; }
  operator Value&() { return value; }
};

/// DataType <-> its text.
template <>
struct type_caster<tilewright::DataType> {
  using Value = tilewright::DataType;
  static constexpr auto Name = const_name("str");
  template <class>
  using Cast = Value;
  template <class>
  static constexpr bool can_cast() {
    return true;
  }
  Value value;
  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    try {
      return Value::try_parse(str(source).c_str(), &value);  // also numpy dtypes
    } catch (...) {
      PyErr_Clear();
      return false;
    }
  }
  static handle from_cpp(const Value& dtype, rv_policy, cleanup_list*) noexcept {
    const std::string text = dtype.str();
    return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  }
  operator Value() { return value; }
  operator Value&() { return value; }
};

}  // namespace nanobind::detail
