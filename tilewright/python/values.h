// Conversion between Python and run-time values: arguments and results of packed functions.
#pragma once
#include <nanobind/nanobind.h>

#include "tilewright/runtime/module.h"

namespace tilewright::python {
namespace nb = nanobind;

/// Python value -> Value: None, bool, int, float, str, bytes, Tensor and any object with __dlpack__, tuple
/// and list, Function and Python callables, Module, Device.  Raises UserError for anything else.
runtime::Value value_from_python(nb::handle value);
nb::object value_to_python(const runtime::Value& value);
/// A packed function that calls the Python callable `body`.
runtime::Function function_from_callable(const std::string& name, nb::object body);
/// Calls `function` with Python arguments, without holding the interpreter lock.
nb::object call_function(const runtime::Function& function, const nb::args& args);

void bind_functions(nb::module_& m);

}  // namespace tilewright::python
